/**
 * Starts the service in this process, on a real loopback TLS listener with a free port, in a temporary home, and
 * takes it down with the test. A test fails when its service answered with a status that its route does not declare.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext } from 'node:test'
import { parse, stringify } from 'yaml'
import { openHome } from '../../src/app/installation/home.ts'
import { type Instance, startInstance } from '../../src/app/instance.ts'
import { createLog } from '../../src/app/logging.ts'
import { isJsonObject } from '../../src/base/json.ts'
import { systemRandom } from '../../src/base/secrets/random.ts'
import { Secret } from '../../src/base/secrets/secret.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import type { Config } from '../../src/config/config.ts'
import { defaultConfigFile } from '../../src/config/default-file.ts'
import { readEnvironment } from '../../src/config/environment.ts'
import type { Store } from '../../src/domain/stores.ts'
import { UNDECLARED } from '../../src/http/router.ts'
import { openStore } from '../../src/store/open.ts'
import { TestClock } from './clocks/clock.ts'
import { ADMIN, copyInstalledHome } from './homes/installed-home.ts'
import { type CallOptions, type HttpClient, httpClient, type Reply } from './http-client.ts'
import { CHEAP } from './login/cheap-hashing.ts'

export { ADMIN }

export interface ServiceOptions {
  /** Merged into the default `controller.yml`, or into that of the given home; a list replaces the list. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Another instance's home to share database and secret with, or to come back to after a stop. */
  readonly home?: string
  readonly clock?: TestClock
  readonly environment?: Readonly<Record<string, string>>
  /** Passwords are hashed with the strength that is shipped: where the time that it takes is what is tested. */
  readonly hashing?: 'as shipped'
  /** The start that makes the installation, instead of one in a copy of an installed home. */
  readonly isFirstStart?: boolean
}

export interface Service {
  readonly home: string
  readonly config: Config
  readonly instance: Pick<Instance, 'listeners' | 'renewCertificates'>
  readonly clock: TestClock
  /** The first base URL of the first listener. */
  readonly baseUrl: string
  readonly ca: string
  readonly client: HttpClient
  /** Every log line so far, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: log lines have any fields
  readonly log: readonly any[]
  /** A call to a path of the first base URL. */
  call(path: string, options?: CallOptions): Promise<Reply>
  /** A second door to the same database: what another instance sees. Closed with the test. */
  openStore(): Promise<Store>
  stop(): Promise<void>
}

export async function startService(
  t: Pick<TestContext, 'after'>,
  options: ServiceOptions = {},
): Promise<Service> {
  const clock = options.clock ?? new TestClock()
  const home = options.home ?? (await temporaryFolder(t))
  if (canStartInCopy(options)) await copyInstalledHome(home, reserveInstallation(t))
  await configure(home, options.config)
  const environment = readEnvironment({
    LATCHKEY_ADMIN_PASSWORD: ADMIN.password,
    ...options.environment,
  })
  const { config } = await openHome({ home, file: undefined, environment })
  // biome-ignore lint/suspicious/noExplicitAny: log lines have any fields
  const log: any[] = []
  let running: Instance | undefined = await startInstance({
    config,
    adminPassword: environment.adminPassword ?? new Secret(ADMIN.password),
    clock,
    random: systemRandom,
    handOver: async () => {},
    hashStrength: options.hashing === undefined ? CHEAP : undefined,
    log: createLog(
      { level: 'debug', format: 'json' },
      { write: (line) => log.push(JSON.parse(line)) },
    ),
  })
  const { caFile } = running
  const listeners = running.listeners.map(({ name, baseUrls, routes }) => ({
    name,
    baseUrls,
    routes,
  }))
  const stop = async () => {
    const stopping = running
    if (stopping === undefined) return
    // node --test keeps every test with its hooks, and so what they refer to: not the whole instance, too.
    running = undefined
    await stopping.stop()
    assert.deepEqual(
      log.filter((line) => line.msg === UNDECLARED),
      [],
    )
  }
  t.after(stop)

  const ca = caFile === undefined ? '' : await readFile(caFile, 'utf8')
  const client = httpClient(ca, config.compatibility === 'openziti' ? 'other' : 'described')
  const baseUrl = listeners[0]?.baseUrls[0] ?? ''
  return {
    home,
    config,
    instance: { listeners, renewCertificates: async () => running?.renewCertificates() },
    clock,
    baseUrl,
    ca,
    client,
    log,
    call: (path, call) => client.call(`${baseUrl}${path}`, call),
    async openStore() {
      const store = await openStore(config.db)
      t.after(() => store.close())
      return store
    },
    stop,
  }
}

/**
 * Returns what all tests of a `describe` share, which calls this: it starts before the first of them and ends after the
 * last. For tests that use only what they make themselves, and leave the clock alone.
 */
export function forAll<T extends object>(start: (t: Pick<TestContext, 'after'>) => Promise<T>): T {
  const shared = {} as T
  const ends: (() => unknown)[] = []
  before(async () => {
    Object.assign(shared, await start({ after: (end) => ends.push(end as () => unknown) }))
  })
  after(async () => {
    for (const end of ends) await end()
  })
  return shared
}

/** The installations whose copies belong to tests that have not ended (D-301). */
const reserved = new Set<number>()

/** The first installation that no running test has: two services of one test are never copies of the same one. */
function reserveInstallation(t: Pick<TestContext, 'after'>): number {
  let installation = 0
  while (reserved.has(installation)) installation += 1
  reserved.add(installation)
  t.after(() => reserved.delete(installation))
  return installation
}

/**
 * Whether the installation in the copy is what this start would make: not if the options choose database, keys,
 * password or another time than now.
 */
function canStartInCopy(options: ServiceOptions): boolean {
  const { config = {}, home, clock, environment, hashing, isFirstStart = false } = options
  const given = [home, environment, hashing]
  if (isFirstStart || given.some((option) => option !== undefined)) return false
  if (clock !== undefined && Math.abs(clock.now() - systemClock.now()) > 1_000) return false
  return !/"(db|secret|trustDomain|identity|signingAlgorithm|idTokenAlgorithm|keyRotation)":/.test(
    JSON.stringify(config),
  )
}

/** Configurations by their text: most homes have the same one, and YAML is slow to read. Merging changes none. */
const parsed = new Map<string, unknown>()

/** Writes `controller.yml` into a home that has none, and changes into one that has. */
async function configure(home: string, changes: ServiceOptions['config']): Promise<void> {
  const path = join(home, 'controller.yml')
  const existing = await readFile(path, 'utf8').catch(() => undefined)
  if (existing !== undefined && changes === undefined) return
  const text = existing ?? defaultConfigFile({ address: 'localhost:0' })
  const file = parsed.get(text) ?? parse(text)
  parsed.set(text, file)
  await writeFile(path, stringify(merge(file, changes ?? {})), { mode: 0o600 })
}

/**
 * The same service, called by another of its base URLs. The connection goes to 127.0.0.1 and the Host field names
 * the bind point, so that tests need neither IPv6 nor names.
 */
export function serviceAt(service: Service, baseUrl: string): Service {
  const { host, port } = new URL(baseUrl)
  return {
    ...service,
    baseUrl,
    call: (path, options = {}) =>
      service.client.call(`https://127.0.0.1:${port}${path}`, {
        ...options,
        headers: { ...options.headers, host },
      }),
  }
}

/** A folder that is gone after the test. */
export async function temporaryFolder(t: Pick<TestContext, 'after'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-test-'))
  // A service that is stopping may still write a file into it, so try again.
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))
  return folder
}

function merge(base: unknown, over: unknown): unknown {
  if (!isJsonObject(base) || !isJsonObject(over)) return over
  const names = new Set([...Object.keys(base), ...Object.keys(over)])
  return Object.fromEntries(
    [...names].map((name) => [name, name in over ? merge(base[name], over[name]) : base[name]]),
  )
}

/** As pino numbers the levels. */
const ERROR_LEVEL = 50

/** The lines of its log that an operator would have to look at. */
export const errorsIn = ({ log }: Pick<Service, 'log'>) =>
  log.filter(({ level }) => level >= ERROR_LEVEL)
