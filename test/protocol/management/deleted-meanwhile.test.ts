/**
 * A caller writes a row that refers to an identity, a password or a policy while an administrator deletes it: the
 * deletion has happened and is not committed when the write comes. Each is refused as if the deletion had come first,
 * and no foreign key becomes a 500. D-284.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { AuthPolicyId, IdentityId } from '../../../src/base/ids.ts'
import type { Stores } from '../../../src/domain/stores.ts'
import { handMadeCsr } from '../../support/certificates/csr.ts'
import { enrollByCsr, inviteNew } from '../../support/certificates/enrollment.ts'
import { eventually } from '../../support/eventually.ts'
import type { Reply } from '../../support/http-client.ts'
import {
  authenticatorApp,
  enrolledPerson,
  PASSWORD,
  partialLogin,
  scanned,
  startEnrollment,
  totpPolicy,
  verifyEnrollment,
} from '../../support/login/authenticator-app.ts'
import { CLIENT_API, callsOf, legacyToken } from '../../support/login/legacy.ts'
import { beginLogin, submitPassword } from '../../support/login/login.ts'
import { type Administrator, administrate, logInAs } from '../../support/management.ts'
import { softAuthenticator } from '../../support/passkeys/authenticator.ts'
import {
  passkeyPerson,
  passkeyPolicy,
  provePasskey,
  startPasskey,
  verifyPasskey,
} from '../../support/passkeys/passkey-login.ts'
import { type Service, temporaryFolder } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { execute, startPostgres } from '../../support/stores/postgres.ts'

after(async () => (await startPostgres()).stop())

const MFA = `${CLIENT_API}/current-identity/mfa`
const KEYS = `${CLIENT_API}/current-identity/passkeys`
/** SQLite does not say who waits. A write that comes later still finds the deletion, and must be refused as well. */
const MOMENT_MILLISECONDS = 100

interface Place {
  readonly service: Service
  readonly admin: Administrator
}

interface Race {
  /** What the administrator does. */
  delete(tx: Stores): Promise<unknown>
  /** What comes before that is committed. */
  call(): Promise<Reply>
}

const againstIdentity = (id: string, call: Race['call']): Race => ({
  async delete(tx) {
    await tx.identities.hold(id as IdentityId)
    await tx.identities.remove(id as IdentityId)
  },
  call,
})

const againstPolicy = (id: string, call: Race['call']): Race => ({
  async delete(tx) {
    await tx.authPolicies.hold(id as AuthPolicyId)
    await tx.authPolicies.remove(id as AuthPolicyId)
  },
  call,
})

const newcomer = ({ admin }: Place, policy?: string) =>
  admin.createIdentity({ password: PASSWORD, ...(policy === undefined ? {} : { policy }) })

/** A new identity and the calls of its session. */
async function sessionOf(place: Place) {
  const { service } = place
  const person = await newcomer(place)
  const { access_token } = await logInAs(service, person)
  const headers = { authorization: `Bearer ${access_token}` }
  const post = (path: string, json: object = {}) =>
    service.call(path, { method: 'POST', headers, json })
  return { id: person.id, post }
}

/** A new identity in a login that its policy does not let end without a second factor. */
async function loginOf(place: Place, policyOf: typeof totpPolicy) {
  const { id, ...person } = await newcomer(place, await policyOf(place.admin))
  const { authRequestId } = await partialLogin(place.service, person)
  return { id, authRequestId }
}

const ENDED = '401 UNAUTHORIZED'
const START_AGAIN = '400 INVALID_AUTH_REQUEST'

const RACES: Readonly<Record<string, readonly [string, (place: Place) => Promise<Race>]>> = {
  'an app is enrolled in a session': [
    ENDED,
    async (place) => {
      const { id, post } = await sessionOf(place)
      return againstIdentity(id, () => post(MFA))
    },
  ],
  'an app is enrolled in a partial session': [
    ENDED,
    async (place) => {
      const person = await newcomer(place, await totpPolicy(place.admin))
      const call = callsOf(place.service, await legacyToken(place.service, person))
      return againstIdentity(person.id, () => call(MFA, { method: 'POST' }))
    },
  ],
  'an app is verified in a session': [
    ENDED,
    async (place) => {
      const { id, post } = await sessionOf(place)
      const { provisioningUrl } = (await post(MFA)).json().data
      const code = authenticatorApp(provisioningUrl, place.service.clock).code()
      return againstIdentity(id, () => post(`${MFA}/verify`, { code }))
    },
  ],
  'a passkey is added in a session': [
    ENDED,
    async (place) => {
      const { id, post } = await sessionOf(place)
      const { publicKey } = (await post(KEYS)).json().data
      const credential = softAuthenticator().create(publicKey, place.service.baseUrl)
      return againstIdentity(id, () => post(`${KEYS}/verify`, { credential, name: 'laptop' }))
    },
  ],
  // The count of guesses is the first write, and the app is looked for after it.
  'a code is proven in a partial session': [
    '409 MFA_NOT_ENROLLED',
    async ({ service, admin }) => {
      const { id, app, ...person } = await enrolledPerson(service, admin)
      const call = callsOf(service, await legacyToken(service, person))
      const json = { code: app.code() }
      return againstIdentity(id, () => call(`${CLIENT_API}/authenticate/mfa`, { json }))
    },
  ],
  'an app is enrolled in a login': [
    START_AGAIN,
    async (place) => {
      const { id, authRequestId } = await loginOf(place, totpPolicy)
      return againstIdentity(id, () => startEnrollment(place.service, authRequestId))
    },
  ],
  'an app is verified in a login': [
    START_AGAIN,
    async (place) => {
      const { id, authRequestId } = await loginOf(place, totpPolicy)
      const { app } = await scanned(place.service, authRequestId)
      const code = app.code()
      return againstIdentity(id, () => verifyEnrollment(place.service, authRequestId, code))
    },
  ],
  'a passkey is added in a login': [
    START_AGAIN,
    async (place) => {
      const { id, authRequestId } = await loginOf(place, passkeyPolicy)
      const { publicKey } = await startPasskey(place.service, authRequestId)
      const credential = softAuthenticator().create(publicKey, place.service.baseUrl)
      return againstIdentity(id, () => verifyPasskey(place.service, authRequestId, credential))
    },
  ],
  'a passkey is proven in a login': [
    START_AGAIN,
    async ({ service, admin }) => {
      const { id, key, ...person } = await passkeyPerson(service, admin)
      const { authRequestId } = await partialLogin(service, person)
      return againstIdentity(id, () => provePasskey(service, authRequestId, key))
    },
  ],
  'a wrong password is counted': [
    '401 INVALID_AUTH',
    async (place) => {
      const { id, username } = await newcomer(place)
      const { authRequestId } = await beginLogin(place.service)
      const wrong = { username, password: 'not the password' }
      return againstIdentity(id, () => submitPassword(place.service, authRequestId, wrong))
    },
  ],
  'a password is added': [
    '400 COULD_NOT_VALIDATE',
    async ({ admin }) => {
      const { id: identityId } = await admin.createIdentity()
      const json = { method: 'updb', identityId, username: identityId, password: PASSWORD }
      return againstIdentity(identityId, () => admin.call('POST', '/authenticators', json))
    },
  ],
  'an invitation is made': [
    '400 COULD_NOT_VALIDATE',
    async ({ admin }) => {
      const { id: identityId } = await admin.createIdentity()
      const json = { method: 'ott', identityId }
      return againstIdentity(identityId, () => admin.call('POST', '/enrollments', json))
    },
  ],
  'an invitation is used': [
    '400 INVALID_ENROLLMENT_TOKEN',
    async ({ service, admin }) => {
      const { identityId, token } = await inviteNew(admin, { ott: true })
      return againstIdentity(identityId, () => enrollByCsr(service, token, handMadeCsr()))
    },
  ],
  'an identity is made with a policy': [
    '400 COULD_NOT_VALIDATE',
    async ({ admin }) => {
      const authPolicyId = await admin.createPolicy()
      const json = { name: authPolicyId, type: 'Default', isAdmin: false, authPolicyId }
      return againstPolicy(authPolicyId, () => admin.call('POST', '/identities', json))
    },
  ],
  'an identity is given a policy': [
    '400 COULD_NOT_VALIDATE',
    async ({ admin }) => {
      const authPolicyId = await admin.createPolicy()
      const { id } = await admin.createIdentity()
      const change = () => admin.call('PATCH', `/identities/${id}`, { authPolicyId })
      return againstPolicy(authPolicyId, change)
    },
  ],
}

/** The tables that these races insert into: every one with a foreign key. */
const REFERRING = [
  'authenticators',
  'code_guesses',
  'enrollments',
  'identities',
  'passkeys',
  'password_failures',
  'recovery_codes',
  'totp_enrollments',
]

const FOREIGN_KEYS = `select distinct conrelid::regclass::text as name from pg_constraint
  where contype = 'f' order by name`

test('no table has a foreign key without a race', async () => {
  const rows = await execute(await migratedDatabase(), FOREIGN_KEYS)
  assert.deepEqual(
    rows.map(({ name }) => name),
    REFERRING,
  )
})

const DATABASES = {
  SQLite: async (t: TestContext) => join(await temporaryFolder(t), 'shared.db'),
  PostgreSQL: migratedDatabase,
}

for (const [name, database] of Object.entries(DATABASES)) {
  test(`what is deleted at the same moment, on ${name}`, async (t) => {
    const url = await database(t)
    const service = await (await installation(url)).start(t)
    const place = { service, admin: await administrate(service) }
    const other = await service.openStore()
    for (const [what, [refusal, prepare]] of Object.entries(RACES)) {
      await t.test(`while ${what}`, async () => {
        const race = await prepare(place)
        const deleted = Promise.withResolvers<void>()
        const commit = Promise.withResolvers<void>()
        const deleting = other.transaction(async (tx) => {
          await race.delete(tx)
          deleted.resolve()
          await commit.promise
        })
        await deleted.promise
        const calling = race.call()
        await waitingIn(url)
        commit.resolve()
        await deleting
        const reply = await calling
        assert.equal(`${reply.status} ${reply.json().error.code}`, refusal, reply.text)
      })
    }
  })
}

/** Resolves when the write waits for the deletion. */
async function waitingIn(url: string): Promise<unknown> {
  if (!url.startsWith('postgres')) return pause(MOMENT_MILLISECONDS)
  return eventually(
    async () => (await execute(url, WAITING))[0],
    'a statement that waits for a lock',
  )
}

const WAITING = `select 1 from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`
