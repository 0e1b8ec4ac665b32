/**
 * A controller for the tests of clients: the real service, in this process, in a temporary folder that is gone when it
 * stops, on this machine only. It behaves until a scenario begins (D-326).
 */
import { rmSync } from 'node:fs'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeBackup } from '../app/backup/make.ts'
import { restoreBackup } from '../app/backup/restore.ts'
import { openHome } from '../app/installation/home.ts'
import { rotateSigningKeys } from '../app/installation/rotate-signing-keys.ts'
import { type Instance, startInstance } from '../app/instance.ts'
import { writeCertificates } from '../base/certificates.ts'
import { base64url } from '../base/encoding.ts'
import type { Log } from '../base/log.ts'
import { listenAt } from '../base/node/listen.ts'
import { systemRandom } from '../base/secrets/random.ts'
import { Secret } from '../base/secrets/secret.ts'
import { days } from '../base/time/duration.ts'
import { minus, plus } from '../base/time/instant.ts'
import { type Client, connect } from '../client/client.ts'
import { BAD_DAYS, type ScenarioName } from './bad-days.ts'
import { createInterceptor, type SeenRequest } from './interceptor.ts'
import { createMovableClock } from './movable-clock.ts'
import { type Credentials, demandTotp, seedPeople } from './people.ts'
import { BEGINNINGS, type Stage } from './scenarios.ts'
import { followScript, type ScriptStep } from './script.ts'
import { makeServerCertificate, type ShownCertificate } from './server-certificates.ts'

export interface FakeServer {
  /** `https://localhost:PORT`; the issuer is this followed by `/oidc`. */
  readonly url: string
  /** The CAs that clients trust, in PEM. */
  readonly ca: string
  readonly clientId: string
  /** A user with a password. */
  readonly alice: Credentials
  /** An administrator with a password. */
  readonly admin: Credentials
  /** Every request, in the order of arrival, with the grant at the token endpoint: `POST /oidc/token refresh_token`. */
  readonly requests: readonly string[]
  /** Begins a scenario now; resolves when it has begun. Several can be begun, one after the other. */
  begin(scenario: ScenarioName): Promise<void>
  stop(): Promise<void>
}

export interface FakeServerOptions {
  /** 0, the default, means a free one. */
  readonly port?: number | undefined
  /** Begins these by itself. */
  readonly script?: readonly ScriptStep[]
  /** Told when a step of the script has begun. */
  readonly onBegin?: (scenario: ScenarioName, goodClient: string) => void
}

/** What happened is in its answers, and tests are quiet. */
const ignore = () => undefined
const NO_LOG: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore }

const ALL = { recursive: true, force: true, maxRetries: 3 } as const

export async function startFakeServer(options: FakeServerOptions = {}): Promise<FakeServer> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'latchkey-fake-'))
  const removeNow = () => rmSync(folder, ALL)
  process.once('exit', removeNow)
  const forget = async () => {
    await rm(folder, ALL)
    process.off('exit', removeNow)
  }
  try {
    return await startIn(folder, options, forget)
  } catch (error) {
    await forget()
    throw error
  }
}

async function startIn(
  folder: string,
  { port = 0, script = [], onBegin }: FakeServerOptions,
  forget: () => Promise<void>,
): Promise<FakeServer> {
  const clock = createMovableClock()
  const random = systemRandom
  const now = clock.now()
  const good = await makeServerCertificate('Fake CA', now, plus(now, days(30)))
  const expired = await makeServerCertificate('Fake CA that expired', now, minus(now, days(1)))
  const ca = writeCertificates([good.ca, expired.ca])
  const password = () => base64url(random.bytes(15))
  const admin = { username: 'admin', password: password() }
  const alice = { username: 'alice', password: password() }
  const requests: string[] = []
  const interceptor = createInterceptor((request) => requests.push(described(request)))

  const show = async ({ certificatePem, keyPem }: ShownCertificate) => {
    await writeFile(join(folder, 'server.pem'), certificatePem, { mode: 0o600 })
    await writeFile(join(folder, 'server.key'), keyPem, { mode: 0o600 })
  }
  await show(good)
  await writeFile(join(folder, 'ca.pem'), ca)
  const address = `localhost:${port === 0 ? await freePort() : port}`
  await writeFile(join(folder, 'controller.yml'), configuration(address), { mode: 0o600 })
  const { config } = await openHome({
    home: folder,
    file: undefined,
    environment: {
      home: folder,
      address,
      adminPassword: new Secret(admin.password),
      variable: () => undefined,
      conceal: () => undefined,
      unknownVariables: () => [],
      forWorkers: () => ({}),
    },
  })
  const open = (): Promise<Instance> =>
    startInstance({
      config,
      adminPassword: new Secret(admin.password),
      clock,
      random,
      log: NO_LOG,
      handOver: async () => undefined,
      intercept: interceptor.intercept,
    })
  let instance = await open()
  const url = `https://${address}`
  let client: Client | undefined
  try {
    client = await connect({ url, ca })
    const { policyId, signer } = await seedPeople(client, admin, alice)
    const backup = join(folder, 'backup')
    const quietly = () => undefined
    await makeBackup(config, {
      path: backup,
      replaces: true,
      passphrase: undefined,
      onRows: quietly,
    })
    const own = client
    const stage: Stage = {
      interceptor,
      clock,
      signer,
      rotateKeys: async () => void (await rotateSigningKeys(config, 'older-keys')),
      demandTotp: () => demandTotp(own, admin, policyId),
      async showExpiredCa() {
        await show(expired)
        await instance.renewCertificates()
      },
      async restoreBackup() {
        await instance.stop()
        await restoreBackup(config, {
          path: backup,
          replaces: true,
          passphrase: undefined,
          onCheck: quietly,
          onRows: quietly,
        })
        instance = await open()
      },
    }
    let beginning: Promise<void> = Promise.resolve()
    const begin = (name: ScenarioName): Promise<void> => {
      beginning = beginning.catch(quietly).then(() => BEGINNINGS[name](stage))
      return beginning
    }
    const follow = followScript(script)
    const beginAll = (names: readonly ScenarioName[]) => {
      for (const name of names) {
        begin(name).then(() => onBegin?.(name, BAD_DAYS[name].goodClient), quietly)
      }
    }
    interceptor.onAnswer((request, status) => {
      beginAll(follow.answered(request, status))
    })
    beginAll(follow.atStart())
    await beginning

    return {
      url,
      ca,
      clientId: config.brand,
      alice,
      admin,
      requests,
      begin,
      async stop() {
        await beginning.catch(quietly)
        own.close()
        await instance.stop()
        await forget()
      },
    }
  } catch (error) {
    client?.close()
    await instance.stop()
    throw error
  }
}

const described = ({ method, path, grantType }: SeenRequest) =>
  [method, path, ...(grantType === undefined ? [] : [grantType])].join(' ')

/**
 * The listener of a fake server: loopback only, with certificates that a scenario can replace. A lost answer to a refresh
 * can be asked for again (D-27).
 */
function configuration(address: string): string {
  const port = address.split(':')[1]
  return `v: 1
identity:
  cert: server.pem
  key: server.key
  ca: ca.pem
edge:
  oidc:
    refreshRetryWindow: 30s
web:
  - name: default
    bindPoints:
      - interface: 127.0.0.1:${port}
        address: ${address}
    apis:
      - binding: edge-client
      - binding: edge-management
`
}

async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listenAt(server, { host: '127.0.0.1', port: 0 }, () => undefined)
  await new Promise((resolve) => server.close(resolve))
  return port
}
