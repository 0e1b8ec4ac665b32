/**
 * A pending TOTP enrollment belongs to the login or session that started it: D-240, D-19; R089, R090.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { CallOptions, Reply } from '../../support/http-client.ts'
import {
  type AuthenticatorApp,
  authenticatorApp,
  cancelEnrollment,
  PASSWORD,
  partialLogin,
  startEnrollment,
  submitCode,
  totpPolicy,
  verifyEnrollment,
} from '../../support/login/authenticator-app.ts'
import { CLIENT_API, type Credentials, callsOf, legacyToken } from '../../support/login/legacy.ts'
import { answerOf, bearer, exchangeOf } from '../../support/login/login.ts'
import { administrate, assertRefused, logInAs } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const MFA = `${CLIENT_API}/current-identity/mfa`
const NOT_STARTED = 'MFA_ENROLLMENT_NOT_STARTED'

/** Everything that can start an enrollment, by the calls it makes. */
interface Enrolling {
  start(): Promise<Reply>
  verify(code: string): Promise<Reply>
  cancel(): Promise<Reply>
  /** Everything that shows a pending secret. */
  readonly reads: readonly (() => Promise<Reply>)[]
}

type Kind = (service: Service, person: Credentials) => Promise<Enrolling>

function inSession(call: (path: string, options?: CallOptions) => Promise<Reply>): Enrolling {
  return {
    start: () => call(MFA, { method: 'POST' }),
    verify: (code) => call(`${MFA}/verify`, { json: { code } }),
    cancel: () => call(MFA, { method: 'DELETE' }),
    reads: [() => call(MFA), () => call(`${MFA}/qr-code`)],
  }
}

const KINDS: Readonly<Record<string, Kind>> = {
  'login that is half finished': async (service, person) => {
    const { authRequestId: id } = await partialLogin(service, person)
    return {
      start: () => startEnrollment(service, id),
      verify: (code) => verifyEnrollment(service, id, code),
      cancel: () => cancelEnrollment(service, id),
      // A login shows the secret again only on the page that refuses a wrong code.
      reads: [
        () =>
          service.call('/oidc/login/totp/enroll/verify', {
            form: [
              ['authRequestId', id],
              ['code', '00000x'],
            ],
            headers: { accept: 'text/html' },
          }),
      ],
    }
  },
  'partial legacy session': async (service, person) =>
    inSession(callsOf(service, await legacyToken(service, person))),
}

async function start(t: TestContext) {
  const service = await startService(t)
  service.clock.hold()
  const admin = await administrate(service)
  const policy = await totpPolicy(admin)
  const ada = await admin.createIdentity({ password: PASSWORD, policy })
  return { service, admin, policy, ada }
}

async function scan(service: Service, owner: Enrolling): Promise<AuthenticatorApp> {
  const started = await owner.start()
  assert.equal(started.status, 201, started.text)
  const body = started.json()
  return authenticatorApp((body.data ?? body).provisioningUrl, service.clock)
}

const secretOf = ({ provisioningUrl }: AuthenticatorApp) =>
  new URL(provisioningUrl).searchParams.get('secret') ?? assert.fail()

for (const [ownerKind, ownerOf] of Object.entries(KINDS)) {
  for (const [otherKind, otherOf] of Object.entries(KINDS)) {
    test(`D-240: a ${otherKind} neither reads, verifies nor cancels the enrollment of another ${ownerKind}`, async (t) => {
      // Attack: an attacker has the password. While the owner scans the QR code, the attacker's own half-finished
      // login reads the pending secret, and has the owner's second factor from then on.
      const { service, admin, ada } = await start(t)
      const owner = await ownerOf(service, ada)
      const attacker = await otherOf(service, ada)
      const app = await scan(service, owner)

      for (const read of attacker.reads) {
        const reply = await read()
        assert.equal(reply.text.includes(secretOf(app)), false)
        assert.equal(reply.status, 404, reply.text)
      }
      assertRefused(await attacker.verify(app.code()), 404, NOT_STARTED)
      assertRefused(await attacker.cancel(), 404, NOT_STARTED)
      // A code for the enrollment of another login does not count as a guess, so it does not make the owner wait.
      for (let guess = 0; guess < 12; guess += 1) {
        assertRefused(await attacker.verify(app.wrongCode()), 404, NOT_STARTED)
      }

      assert.equal((await admin.get(`/identities/${ada.id}`)).isMfaEnabled, false)
      const verified = await owner.verify(app.code())
      assert.ok([200, 302].includes(verified.status), verified.text)
      assert.equal((await admin.get(`/identities/${ada.id}`)).isMfaEnabled, true)
    })

    test(`R089: an enrollment that a ${otherKind} starts voids the one of a ${ownerKind}`, async (t) => {
      const { service, ada } = await start(t)
      const first = await ownerOf(service, ada)
      const second = await otherOf(service, ada)
      const firstApp = await scan(service, first)
      const secondApp = await scan(service, second)
      for (const app of [firstApp, secondApp]) {
        assertRefused(await first.verify(app.code()), 404, NOT_STARTED)
      }
      assertRefused(await first.cancel(), 404, NOT_STARTED)
      for (const read of first.reads) {
        const reply = await read()
        assert.equal(reply.text.includes(secretOf(secondApp)), false)
      }
      const verified = await second.verify(secondApp.code())
      assert.ok([200, 302].includes(verified.status), verified.text)
    })
  }
}

test('D-240: an OIDC session owns what it started, and no other session of the identity sees it', async (t) => {
  const { service, admin } = await start(t)
  const bob = await admin.createIdentity({ password: PASSWORD })
  const sessionOf = async () => {
    const { headers } = bearer((await logInAs(service, bob)).access_token)
    return inSession((path, options = {}) =>
      service.call(path, { ...options, headers: { ...options.headers, ...headers } }),
    )
  }
  const owner = await sessionOf()
  const others = [
    await sessionOf(),
    inSession(callsOf(service, await legacyToken(service, bob))),
  ] as const
  const app = await scan(service, owner)
  for (const other of others) {
    for (const read of other.reads) assertRefused(await read(), 404, NOT_STARTED)
    assertRefused(await other.verify(app.code()), 404, NOT_STARTED)
    assertRefused(await other.cancel(), 404, NOT_STARTED)
  }
  for (const read of owner.reads) assert.equal((await read()).status, 200)
  assert.equal((await owner.verify(app.code())).status, 200)
  // A verified enrollment is not secret: every session of the identity sees that it exists.
  const [other] = others
  const seen = await other.reads[0]?.()
  assert.deepEqual(
    [seen?.status, seen?.json().data.isVerified, seen?.json().data.provisioningUrl],
    [200, true, undefined],
  )
})

test('an owner can continue after another login was refused, and the enrollment counts for that login', async (t) => {
  const { service, ada } = await start(t)
  const login = await partialLogin(service, ada)
  const other = await partialLogin(service, ada)
  const started = await startEnrollment(service, login.authRequestId)
  const app = authenticatorApp(started.json().provisioningUrl, service.clock)
  const refused = await verifyEnrollment(service, other.authRequestId, app.code())
  assertRefused(refused, 404, NOT_STARTED)
  const verified = await verifyEnrollment(service, login.authRequestId, app.code())
  assert.equal((await exchangeOf(service, login, verified)).status, 200)
  const code = await submitCode(service, other.authRequestId, app.code())
  assert.ok(answerOf(code).get('code'), 'the other login goes on with a code of the verified app')
})

test('an enrollment that was pending before owners were recorded is void, and can be started again', async (t) => {
  const { service, ada } = await start(t)
  const login = await partialLogin(service, ada)
  const started = await startEnrollment(service, login.authRequestId)
  const app = authenticatorApp(started.json().provisioningUrl, service.clock)
  await sql(service, 'update totp_enrollments set owner = null where verified_at is null')
  const stale = await verifyEnrollment(service, login.authRequestId, app.code())
  assertRefused(stale, 404, NOT_STARTED)
  assertRefused(await cancelEnrollment(service, login.authRequestId), 404, NOT_STARTED)
  const again = await startEnrollment(service, login.authRequestId)
  const next = authenticatorApp(again.json().provisioningUrl, service.clock)
  assert.equal((await verifyEnrollment(service, login.authRequestId, next.code())).status, 302)
})
