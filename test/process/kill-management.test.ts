/**
 * kill -9 under administrators at work and people who log in, then a start: what was answered is there exactly as
 * answered, what was not is there whole or not at all, and every change that stands has its one event. R109, R114.
 * Chance chooses what happens and when the kill comes; KILL_SEED has its choices again, as far as the machine lets it.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Secret } from '../../src/base/secrets/secret.ts'
import { type Chance, chance } from '../support/chance/chance.ts'
import { isLongRun, rounds } from '../support/chance/rounds.ts'
import { moveToPostgres } from '../support/homes/postgres-home.ts'
import { createLedger, type Entry, settle } from '../support/kills/ledger.ts'
import {
  type Begun,
  lifeOfAnIdentity,
  lifeOfAPolicy,
  lifeOfASigner,
  loginOfSomebody,
} from '../support/kills/managed-lives.ts'
import { isConnectionFailure, NotReady, refusing } from '../support/kills/rounds.ts'
import { bearer, beginLogin, submitPassword } from '../support/login/login.ts'
import { type Administrator, administrate, administratorWith } from '../support/management.ts'
import { changeConfig, fixPort, useWorkers } from '../support/process/child-home.ts'
import { type ChildService, startChild, waitFor } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import type { Service } from '../support/service.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { assertWhole, type StoredEvent } from '../support/stores/whole-database.ts'

/** Rounds that end at any moment, from outside. */
const ROUNDS = rounds(1)
/**
 * Then one for each of these: it ends around the commit of a transaction that writes to one of them, from inside. In an
 * ordinary run one for all of them.
 */
const TABLES = [
  ['identities'],
  ['authenticators', 'enrollments'],
  ['auth_policies', 'external_jwt_signers', 'refresh_tokens'],
] as const
const WRITTEN = isLongRun ? TABLES : [TABLES.flat()]
const EARLY_COMMITS = 5
const ADMINISTRATORS = 6
const LOGINS = 4
/** From outside the kill comes a moment after so many answers, at most; in the last of these rounds after so many. */
const ANSWERS = 100
const MOMENT_MILLISECONDS = 25
const NOT_READY_MILLISECONDS = 100

const KILL_AT_COMMIT = new URL('../support/kills/kill-at-commit.ts', import.meta.url).href

type Database = Pick<Service, 'config'>

/** What has been learned so far, over all rounds: what is over stays over. */
interface World {
  readonly entries: Entry[]
  readonly begun: Begun[]
}

test('administrators and logins survive a kill -9 whole or not at all, on SQLite', async (t) => {
  await killRounds(t, async () => undefined)
})

test('administrators and logins survive a kill -9 whole or not at all, on PostgreSQL', async (t) => {
  const postgres = await startPostgres()
  t.after(() => postgres.stop())
  await killRounds(t, moveToPostgres)
})

async function killRounds(
  t: TestContext,
  prepare: (home: string) => Promise<string | undefined>,
): Promise<void> {
  const seed = Number(process.env['KILL_SEED'] ?? randomInt(2 ** 32))
  const home = await preparedHome(t)
  await fixPort(home)
  const url = await prepare(home)
  await changeConfig(home, (config) => {
    // Whoever is disabled while he logs in fails; here that is nobody who guesses (D-22).
    config.edge = { ...config.edge, limits: { failuresPerAddress: 0 } }
  })
  const db =
    url === undefined
      ? { kind: 'sqlite', path: join(home, 'latchkey.db') }
      : { kind: 'postgres', url: new Secret(url) }
  const database = { config: { db } } as Database

  const world: World = { entries: [], begun: [] }
  await useWorkers(home, 2)
  let service = await startChild(t, { home })
  try {
    for (let round = 1; round <= ROUNDS; round++) {
      const fate = chance(seed + round)
      const answers = round === ROUNDS ? ANSWERS : fate.below(ANSWERS)
      const { token } = await administrate(service)
      await workUntilKilled(service, token, world, { answers, fate })
      service = await startChild(t, { home })
      await checkAll(t, service, database, world)
    }
    // From here on a process kills itself, and that must be the only one.
    await useWorkers(home, 1)
    for (const [i, tables] of WRITTEN.entries()) {
      const fate = chance(seed + ROUNDS + 1 + i)
      // Before: his own login writes, too.
      const { token } = await administrate(service)
      await service.stop()
      const environment = {
        KILL_TABLE: tables[fate.below(tables.length)],
        KILL_COUNT: String(1 + fate.below(EARLY_COMMITS)),
        KILL_SIDE: fate.percent(25) ? 'before' : 'after',
      }
      const doomed = { home, environment, nodeArguments: ['--import', KILL_AT_COMMIT] }
      const kill = { answers: Number.POSITIVE_INFINITY, fate }
      await workUntilKilled(await startChild(t, doomed), token, world, kill)
      service = await startChild(t, { home })
      await checkAll(t, service, database, world)
    }
  } catch (error) {
    t.diagnostic(`KILL_SEED=${seed}`)
    throw error
  }
  assert.equal((await service.stop()).code, 0)
  // Otherwise the kills came before anything was there to lose.
  for (const kind of ['identity', 'policy', 'external-jwt-signer']) {
    assert.ok(world.entries.some((one) => one.kind === kind && one.events.length > 0))
  }
  assert.ok(world.begun.length > 0)
}

/** All at the same time, each with chances of its own, until the service is killed under them. */
async function workUntilKilled(
  service: ChildService,
  token: string,
  world: World,
  { answers, fate }: { readonly answers: number; readonly fate: Chance },
): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const connected = refusing({
    baseUrl: service.baseUrl,
    call: (path, options) => service.call(path, { agent, ...options }),
  })
  const admin = administratorWith(connected, token)
  let left = answers
  const moment = fate.below(MOMENT_MILLISECONDS)
  let isKilled = false
  const kill = async () => {
    await pause(moment)
    isKilled = true
    service.process.kill('SIGKILL')
  }
  let killing: Promise<void> | undefined
  const ledger = createLedger(() => {
    left -= 1
    // In the last round from outside there must be a login to lose.
    const isReady = answers !== ANSWERS || world.begun.length > 0
    if (left <= 0 && isReady) killing ??= kill()
  })
  const work = async (live: (one: Chance) => Promise<unknown>) => {
    const own = chance(fate.below(2 ** 32))
    while (!isKilled) {
      try {
        await live(own)
      } catch (error) {
        if (error instanceof NotReady) {
          await pause(NOT_READY_MILLISECONDS)
          continue
        }
        if (!isConnectionFailure(error)) throw error
        // Whoever kills himself is known to be dead a little later than by his silence.
        const isDead = () => service.process.signalCode !== null
        if (!isKilled) await waitFor(isDead, () => `the kill, ${error}`)
        isKilled = true
      }
    }
  }
  const lives = (one: Chance) => ({ service: connected, admin, ledger, chance: one })
  const workers = [
    ...Array.from({ length: ADMINISTRATORS }, () => work((one) => lifeOfAnIdentity(lives(one)))),
    work((one) => lifeOfAPolicy(lives(one))),
    work((one) => lifeOfASigner(lives(one))),
    ...Array.from({ length: LOGINS }, () =>
      work(async (one) => {
        const someone = await loginOfSomebody(lives(one), world.begun)
        if (!someone) await pause(5)
      }),
    ),
  ]
  await Promise.all(workers)
  await killing
  agent.destroy()
  assert.equal((await service.finished).signal, 'SIGKILL')
  world.entries.push(...ledger.entries)
}

async function checkAll(
  t: TestContext,
  service: ChildService,
  database: Database,
  world: World,
): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const call: ChildService['call'] = (path, options) => service.call(path, { agent, ...options })
  const admin = await administrate({ baseUrl: service.baseUrl, call })
  const events = await assertWhole(database)
  const shown = {
    identity: (await readAll(admin, '/identities')).map(identityShown),
    policy: (await readAll(admin, '/auth-policies')).map(ruleShown),
    'external-jwt-signer': (await readAll(admin, '/external-jwt-signers')).map(ruleShown),
  }
  for (const path of ['/authenticators', '/enrollments', '/api-sessions', '/events']) {
    await readAll(admin, path)
  }

  const wasPending = world.entries.filter(({ pending }) => pending?.password !== undefined)
  const former = new Map(wasPending.map((entry) => [entry, { ...entry }]))
  for (const entry of world.entries) checkEntry(entry, shown[entry.kind], events)
  // Nobody but the first administrator is there beside those that somebody asked for.
  const known = new Set(world.entries.map(({ id }) => id))
  const strangers = shown.identity.filter(({ id }) => !known.has(id))
  assert.deepEqual(
    strangers.map(({ state }) => state.name),
    ['admin'],
  )

  const ended = new Set(
    events.filter(({ type }) => type === 'session.ended').map((one) => one.sessionId),
  )
  for (const { sessionId, token } of world.begun) {
    const reply = await call('/edge/client/v1/current-api-session', bearer(token))
    assert.equal(reply.status, ended.has(sessionId) ? 401 : 200, reply.text)
  }
  await checkPasswords({ baseUrl: service.baseUrl, call }, world.entries, former)
}

/** The whole of a list, page by page: every page tells the same number, which is that of all rows. */
// biome-ignore lint/suspicious/noExplicitAny: lists of any shape
async function readAll(admin: Administrator, path: string): Promise<any[]> {
  const limit = 40
  const rows: { id: string }[] = []
  for (let offset = 0; ; offset += limit) {
    const reply = await admin.call('GET', `${path}?limit=${limit}&offset=${offset}`)
    assert.equal(reply.status, 200, reply.text)
    const { data, meta } = reply.json()
    rows.push(...data)
    if (data.length === limit) continue
    assert.equal(meta.pagination.totalCount, rows.length, path)
    assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length, path)
    return rows
  }
}

interface Shown {
  readonly id: string
  readonly state: { readonly name: string; readonly [field: string]: unknown }
}

// biome-ignore lint/suspicious/noExplicitAny: an answer of the API
function identityShown({ id, name, tags, disabled, authenticators, enrollment }: any): Shown {
  const state = {
    name,
    revision: tags.revision,
    isDisabled: disabled,
    username: authenticators.updb?.username ?? null,
    hasCertificate: authenticators.cert !== undefined,
    open: Object.keys(enrollment),
  }
  return { id, state }
}

// biome-ignore lint/suspicious/noExplicitAny: an answer of the API
function ruleShown({ id, name, tags }: any): Shown {
  return { id, state: { name, revision: tags.revision } }
}

/** As answered or, where an answer is missing, that or as asked for: state and events alike. */
function checkEntry(entry: Entry, shown: readonly Shown[], events: readonly StoredEvent[]): void {
  const { firstName, pending } = entry
  const found =
    entry.id === undefined
      ? shown.find(({ state }) => state.name === firstName)
      : shown.find(({ id }) => id === entry.id)
  entry.id ??= found?.id
  const told = entry.id === undefined ? [] : eventsOf(entry, events)
  const asAnswered = { state: entry.known, events: entry.events.toSorted() }
  const actual = { state: found?.state, events: told }
  if (pending !== undefined) {
    const asAsked = {
      state: pending.after,
      events: [...entry.events, ...pending.events].toSorted(),
    }
    if (isSame(actual, asAsked)) {
      settle(entry, pending)
      return
    }
    entry.pending = undefined
  }
  assert.deepEqual(actual, asAnswered, firstName)
}

function isSame(actual: object, expected: object): boolean {
  try {
    assert.deepEqual(actual, expected)
    return true
  } catch {
    return false
  }
}

function eventsOf({ kind, id }: Entry, events: readonly StoredEvent[]): readonly string[] {
  const own =
    kind === 'identity'
      ? events.filter((one) => one.identityId === id && /^(identity|auth|enroll)/.test(one.type))
      : events.filter((one) => one.details.id === id && one.type.startsWith(`${kind}.`))
  const words = own.map(({ type, details: { changed } }) =>
    changed === undefined ? type : `${type} ${changed.toSorted().join('+')}`,
  )
  return words.toSorted()
}

/** A password that was answered logs in; of a change without an answer, one of the two does. */
async function checkPasswords(
  service: Pick<ChildService, 'baseUrl' | 'call'>,
  entries: readonly Entry[],
  former: ReadonlyMap<Entry, Entry>,
): Promise<void> {
  const able = entries.filter(
    ({ known, password }) =>
      password !== undefined && typeof known?.['username'] === 'string' && !known['isDisabled'],
  )
  const sample = [...able.filter((entry) => former.has(entry)), ...able.slice(-3)]
  for (const entry of new Set(sample)) {
    const before = former.get(entry)
    const candidates = new Set([entry.password, before?.password, before?.pending?.password])
    const right: string[] = []
    for (const password of candidates) {
      if (password === undefined) continue
      const { authRequestId } = await beginLogin(service)
      const credentials = { username: String(entry.known?.['username']), password }
      const { status } = await submitPassword(service, authRequestId, credentials)
      assert.ok(status === 302 || status === 401)
      if (status === 302) right.push(password)
    }
    assert.equal(right.length, 1, 'one password is right')
    if (before === undefined) assert.deepEqual(right, [entry.password])
    entry.password = right[0]
  }
}
