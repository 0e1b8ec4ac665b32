/**
 * What a service does on PostgreSQL, all at once and through three instances: logins, refreshes, endings of one session,
 * of an identity's and of all, deletions and changes of identities, policies and CAs, and the clean-up. Nothing waits in a
 * circle (D-485, which would be 503), and what was ended stays ended (D-34, D-226).
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after as afterAll, test } from 'node:test'
import { sweep } from '../../src/app/janitor.ts'
import type { ApiSessionId, AuthenticatorId, CaId, IdentityId } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/secrets/random.ts'
import { days, minutes } from '../../src/base/time/duration.ts'
import { plus } from '../../src/base/time/instant.ts'
import { auditPorts } from '../../src/domain/audit/ports.ts'
import type { Identity } from '../../src/domain/identities/identity.ts'
import { holdLogin } from '../../src/domain/login/hold-login.ts'
import { removeAuthenticator } from '../../src/domain/management/manage-authenticators.ts'
import { deleteCa } from '../../src/domain/management/manage-cas.ts'
import {
  createIdentity,
  deleteIdentity,
  disableIdentity,
  enableIdentity,
} from '../../src/domain/management/manage-identities.ts'
import { updatePolicy } from '../../src/domain/management/manage-policies.ts'
import {
  endAllSessions,
  endSessionById,
  endSessionsOf,
} from '../../src/domain/management/manage-sessions.ts'
import type { ManagementPorts } from '../../src/domain/management/ports.ts'
import { updateIdentity } from '../../src/domain/management/update-identity.ts'
import { changeRules } from '../../src/domain/policies/change-rules.ts'
import type { CallSession } from '../../src/domain/sessions/call-session.ts'
import { createEndExpired } from '../../src/domain/sessions/ending/end-expired.ts'
import { endOtherSessions } from '../../src/domain/sessions/own-sessions.ts'
import type { Store } from '../../src/domain/stores.ts'
import { Failure } from '../../src/errors/catalogue.ts'
import { StoreUnavailable } from '../../src/errors/store-unavailable.ts'
import { rounds } from '../support/chance/rounds.ts'
import { ManualClock, NOON } from '../support/clocks/manual-clock.ts'
import {
  aLegacySession,
  anIdentity,
  anOidcSession,
  aPolicy,
  CALLER,
  proven,
} from '../support/people.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { postgresql } from './databases.ts'
import { aCa, anAuthRequest, anEvent, hash } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const INSTANCES = 3
const CALLERS = 12
const CALLS = rounds(20)
const PAST = plus(NOON, minutes(20))

/** People come and go; the two administrators stay. */
const PEOPLE = ['ada', 'zoe'] as const
const ADMINISTRATORS = ['mia', 'tom'] as const

const clock = new ManualClock()
let numbers = 0
const fresh = (what: string) => `${what}-${String(randomInt(1000)).padStart(3, '0')}-${numbers++}`
const oneOf = <T>(list: readonly T[]): T | undefined => list[randomInt(Math.max(1, list.length))]

type Instance = ReturnType<typeof instanceOn>

function instanceOn(store: Store) {
  const ports = {
    ...store,
    ...auditPorts({ clock, random: systemRandom }),
    accessTokenLife: minutes(30),
  } as unknown as ManagementPorts & Store
  const expired = createEndExpired({ ...ports, past: () => PAST })
  return { store, ports, expired }
}

test('nothing waits in a circle, and what was ended stays ended', async (t) => {
  const database = await postgresql.create(t)
  const first = instanceOn(await database.open())
  const instances = [first]
  while (instances.length < INSTANCES) instances.push(instanceOn(await database.open()))
  const { store } = first
  await store.authPolicies.insert(aPolicy())
  for (const name of [...PEOPLE, ...ADMINISTRATORS]) await create(first, name)

  /** Of sessions that were begun and, as far as this test knows, may be alive. */
  const tokens = new Map<ApiSessionId, string>()

  async function create({ ports }: Instance, name: string): Promise<void> {
    const id = fresh(name) as IdentityId
    const isAdmin = ADMINISTRATORS.some((one) => one === name)
    await createIdentity(ports, { ...anIdentity(), name, externalId: name, isAdmin }, CALLER, {
      id,
      within: async (tx) => {
        await tx.authenticators.insert({
          id: `password of ${id}` as AuthenticatorId,
          identityId: id,
          method: 'updb',
          username: name,
          passwordHash: 'hash',
          lockedUntil: undefined,
          tags: {},
          createdAt: NOON,
          updatedAt: NOON,
        })
      },
    })
  }

  const anyone = async ({ ports }: Instance): Promise<Identity | undefined> =>
    oneOf((await ports.identities.list({ limit: 20, offset: 0 })).rows)
  const person = async ({ ports }: Instance): Promise<Identity | undefined> =>
    oneOf(
      (await ports.identities.list({ limit: 20, offset: 0 })).rows.filter((one) => !one.isAdmin),
    )
  const proofOf = ({ id, voidedLogins }: Identity) =>
    proven({
      identityId: id,
      authenticatorId: `password of ${id}` as AuthenticatorId,
      voidedLogins,
    })
  const sessionOf = (identity: Identity) => ({
    id: fresh('session') as ApiSessionId,
    identityId: identity.id,
    primary: proofOf(identity),
    // Some have expired by the time of the clean-up.
    expiresAt: plus(NOON, minutes(randomInt(2) === 0 ? 1 : 60)),
  })

  async function login({ ports }: Instance, identity: Identity): Promise<void> {
    const session = anOidcSession({
      ...sessionOf(identity),
      scopes: ['openid', 'offline_access'],
    })
    const codeHash = hash(`code of ${session.id}`)
    const request = { key: `login of ${session.id}` as never, codeHash, primary: session.primary }
    await ports.authRequests.insert(anAuthRequest({ ...request, expiresAt: session.expiresAt }))
    const token = `token of ${session.id}`
    const { expiresAt, id: sessionId } = session
    const outcome = await ports.beginSession({
      at: NOON,
      redemption: { codeHash, at: NOON },
      identity,
      session,
      refreshToken: { hash: hash(token), sessionId, issuedAt: NOON, expiresAt, spent: undefined },
      proof: undefined,
      event: {
        ...anEvent(fresh('event')),
        type: 'token.issued',
        identityId: session.identityId,
        sessionId,
        details: { scope: 'openid' },
      },
    })
    if (outcome === 'begun') tokens.set(sessionId, token)
  }

  type Work = (instance: Instance) => Promise<unknown>
  const work: Readonly<Record<string, Work>> = {
    /** Several at once, so that there are sessions of one identity to end together. */
    async logins(instance) {
      const identity = await anyone(first)
      if (identity === undefined) return
      await Promise.all(Array.from({ length: 8 }, () => login(instance, identity)))
    },
    async legacyLogin({ ports }) {
      const identity = await anyone(first)
      if (identity === undefined) return
      const session = aLegacySession({ ...sessionOf(identity), tokenHash: hash(fresh('zt')) })
      await ports.transaction(async (tx) => {
        const login = { primary: session.primary, identity }
        if ((await holdLogin(tx, login, NOON)) === undefined) return
        await tx.apiSessions.insert(session)
        await tx.identities.markLogin(identity.id, NOON)
      })
    },
    async refresh({ ports }) {
      const [sessionId, token] = oneOf([...tokens]) ?? []
      const session = sessionId && (await ports.apiSessions.find(sessionId))
      if (sessionId === undefined || token === undefined || session?.kind !== 'oidc') return
      const next = fresh('token')
      const expiresAt = plus(NOON, minutes(90))
      const successor = { hash: hash(next), sessionId, issuedAt: NOON, expiresAt, spent: undefined }
      const outcome = await ports.spendRefreshToken({
        at: NOON,
        hash: hash(token),
        successor,
        primary: session.primary,
        expiresAt,
        tokensEndAt: expiresAt,
        proof: undefined,
        event: {
          ...anEvent(fresh('event')),
          type: 'token.refreshed',
          identityId: session.identityId,
          sessionId,
          details: { scope: 'openid' },
        },
      })
      if (outcome === 'spent') tokens.set(sessionId, next)
    },
    async endOne({ ports }) {
      const [id] = oneOf([...tokens]) ?? []
      if (id !== undefined) await endsAll([id], () => endSessionById(ports, id, CALLER))
    },
    async endOfIdentity({ ports }) {
      const identity = await anyone(first)
      if (identity === undefined) return
      const ids = await idsOf(identity)
      await endsAll(ids, () => endSessionsOf(ports, identity.id, CALLER))
    },
    async endOthers({ ports }) {
      const [sessionId] = oneOf([...tokens]) ?? []
      const session = sessionId && (await store.apiSessions.find(sessionId))
      if (session === undefined) return
      const { identityId } = session
      const call = { sessionId, identityId, kind: 'oidc' } as CallSession
      const others = (await store.apiSessions.listOf(identityId)).map(({ id }) => id)
      await endsAll(
        others.filter((id) => id !== sessionId),
        () => endOtherSessions({ ...ports, brand: 'service' }, call, CALLER),
      )
    },
    endAll: ({ ports }) => endsAll([...tokens.keys()], () => endAllSessions(ports, CALLER)),
    async deleteAndCreate(instance) {
      const identity = await person(instance)
      if (identity === undefined) return
      const ids = await idsOf(identity)
      await endsAll(ids, () => deleteIdentity(instance.ports, identity.id, CALLER))
      await create(instance, identity.name)
    },
    async disableAndEnable({ ports }) {
      const identity = await anyone(first)
      if (identity === undefined) return
      const ids = await idsOf(identity)
      await endsAll(ids, () => disableIdentity(ports, identity.id, 0, CALLER))
      await enableIdentity(ports, identity.id, CALLER)
    },
    async change({ ports }) {
      const identity = await anyone(first)
      if (identity === undefined) return
      const ids = await idsOf(identity)
      const other = (now: Identity) => ({
        ...now,
        type: now.type === 'Router' ? ('Default' as const) : ('Router' as const),
      })
      await endsAll(ids, () => updateIdentity(ports, identity.id, other, CALLER))
    },
    async dropPassword({ ports }) {
      const identity = await person(first)
      if (identity === undefined) return
      const id = `password of ${identity.id}` as AuthenticatorId
      await endsAll(await idsOf(identity), () => removeAuthenticator(ports, id, CALLER))
    },
    policy: ({ ports }) =>
      updatePolicy(ports, aPolicy().id, (now) => ({ ...now, tags: { at: fresh('tag') } }), CALLER),
    async ca({ ports }) {
      const id = fresh('ca') as CaId
      await changeRules(ports, (tx) => tx.cas.insert(aCa({ id, name: id, fingerprint: id })))
      await deleteCa(ports, id, CALLER)
    },
    expire: ({ expired }) => expired.round(),
    cleanUp: ({ store: on }) => sweep(on, PAST, days(1)),
  }

  async function idsOf({ id }: Identity): Promise<readonly ApiSessionId[]> {
    return (await store.apiSessions.listOf(id)).map((session) => session.id)
  }

  /** Those that had begun before are over afterwards. */
  async function endsAll(ids: readonly ApiSessionId[], end: () => Promise<void>): Promise<void> {
    await end()
    for (const id of ids) {
      assert.equal(await store.apiSessions.find(id), undefined, `${id} was ended`)
      tokens.delete(id)
    }
  }

  /** Others were faster, or would have left no administrator. */
  const REFUSALS = ['NOT_FOUND', 'UNAUTHORIZED', 'ENTITY_NAME_IN_USE', 'LAST_ADMINISTRATOR']
  const isRefusal = (error: unknown) => error instanceof Failure && REFUSALS.includes(error.code)
  /** On a busy machine some wait in line for longer than a statement may: `query_canceled`, `lock_not_available`. */
  const WAITED = ['57014', '55P03']
  const hasWaited = (error: unknown) =>
    error instanceof StoreUnavailable &&
    WAITED.includes((error.cause as { code?: string } | undefined)?.code ?? '')
  const names = Object.keys(work)
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let call = 0; call < CALLS; call++) {
        const name = oneOf(names) as string
        const instance = instances[caller % INSTANCES] as Instance
        await work[name]?.(instance).catch((error: unknown) => {
          if (!isRefusal(error) && !hasWaited(error))
            throw new Error(`${name}: ${error}`, { cause: error })
        })
      }
    }),
  )

  const ended = new Set((await store.sessionEndings.listAfter(0)).map(({ subject }) => subject))
  const left = await database.query(`
    select id from api_sessions union select session_id from refresh_tokens
    union select session_id from session_certificates`)
  assert.deepEqual(
    left.filter(({ id }) => ended.has(id as ApiSessionId)),
    [],
    'nothing is left of a session that ended',
  )
  assert.ok(ended.size > 0)
})
