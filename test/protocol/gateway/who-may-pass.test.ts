/**
 * A gateway that follows the real controller: who may pass with what the controller gave him. SPEC Other errors, Limits;
 * D-42; R101, R102, R103. The same for both kinds of session.
 */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import {
  logInByCertificate,
  presenting,
  registerCa,
  shows,
} from '../../support/certificates/certificate-login.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import {
  CERTIFICATES,
  type LiveSession,
  legacySession,
  oidcSession,
  SESSIONS,
} from '../../support/edge/live-session.ts'
import {
  openTunnel,
  pass,
  type RealEdge,
  startRealEdge,
  type Traveller,
  travellerOf,
} from '../../support/edge/real-edge.ts'
import { legacyToken } from '../../support/login/legacy.ts'
import { waitFor } from '../../support/process/child-service.ts'
import { forAll, startService } from '../../support/service.ts'

async function assertRefused(
  t: TestContext,
  edge: RealEdge,
  traveller: Traveller,
  expected: { readonly status: number; readonly reason: string },
): Promise<void> {
  const before = edge.upstream.received()
  const answer = await pass(t, edge, traveller)
  assert.equal(answer?.status, expected.status)
  const { requestId } = answer.json().error
  const line = () => edge.log.find((one) => one.msg === 'request' && one.requestId === requestId)
  await waitFor(
    () => line() !== undefined,
    () => 'the line of the request',
  )
  assert.equal(line().reason, expected.reason)
  assert.equal(edge.upstream.received(), before)
}

for (const [kind, begin] of Object.entries(SESSIONS)) {
  describe(`who may pass (${kind})`, () => {
    const shared = forAll(async (t) => {
      const service = await startService(t)
      return { service, edge: await startRealEdge(t, service) }
    })

    test(`with a session (${kind}) and its certificate a caller passes, and is named to the upstream`, async (t) => {
      const { service, edge } = shared
      const session = await begin(service)
      const traveller = await travellerOf(session)
      const answer = await pass(t, edge, traveller)
      assert.equal(answer?.status, 200)
      const seen = edge.upstream.requests.at(-1)
      assert.deepEqual(seen?.values('x-latchkey-identity-id'), [session.identityId])
      assert.deepEqual(seen?.values('x-latchkey-session-id'), [session.id])
      assert.equal(edge.upstream.received().includes(session.token), false)
    })

    test(`R102: a session (${kind}) without its certificate, and a certificate without its session, are refused`, async (t) => {
      const { service, edge } = shared
      const [one, other] = [await begin(service), await begin(service)]
      const traveller = await travellerOf(one)
      await assertRefused(
        t,
        edge,
        { ...traveller, headers: {} },
        { status: 401, reason: 'no-token' },
      )
      await assertRefused(
        t,
        edge,
        { ...traveller, shown: undefined },
        { status: 403, reason: 'no-certificate' },
      )
      // The same identity: what counts is the session.
      await assertRefused(
        t,
        edge,
        { ...traveller, headers: other.headers },
        { status: 403, reason: 'certificate-of-other-session' },
      )
      const bob = await edge.admin.createIdentity({ password: 'a long password of bob' })
      const session = await begin(service, bob)
      await assertRefused(
        t,
        edge,
        { ...traveller, headers: session.headers },
        { status: 403, reason: 'certificate-of-other-identity' },
      )
      assert.equal((await pass(t, edge, traveller))?.status, 200)
    })

    test(`SPEC Limits: a certificate of a session (${kind}) that has expired is refused, and what it had open is closed`, async (t) => {
      const service = await startService(t, {
        config: { edge: { api: { sessionCertificateDuration: '1m' } } },
      })
      const edge = await startRealEdge(t, service)
      const traveller = await travellerOf(await begin(service))
      const tunnel = await openTunnel(t, edge, traveller)
      assert.equal(tunnel.status, 101)
      edge.clock.advance(minutes(2))
      await tunnel.closed
      await assertRefused(t, edge, traveller, { status: 403, reason: 'certificate-expired' })
    })

    type End = (session: LiveSession, edge: RealEdge, certificateId: string) => Promise<void>
    const ends: Readonly<Record<string, readonly [end: End, status: number, reason: RegExp]>> = {
      'its owner logs out': [
        async (session) => {
          const reply = await session.call('/edge/client/v1/current-api-session', {
            method: 'DELETE',
          })
          assert.equal(reply.status, 200, reply.text)
        },
        401,
        /^(session-ended|token-invalid)$/,
      ],
      'an administrator ends it': [
        (session, { admin }) => admin.act('DELETE', `/api-sessions/${session.id}`),
        401,
        /^(session-ended|token-invalid)$/,
      ],
      'its identity is disabled': [
        (session, { admin }) => admin.act('POST', `/identities/${session.identityId}/disable`, {}),
        401,
        /^(session-ended|token-invalid)$/,
      ],
      'its identity is deleted': [
        (session, { admin }) => admin.act('DELETE', `/identities/${session.identityId}`),
        401,
        /^(session-ended|token-invalid)$/,
      ],
      'its certificate is removed': [
        async (session, _, id) => {
          const reply = await session.call(`${CERTIFICATES}/${id}`, { method: 'DELETE' })
          assert.equal(reply.status, 200, reply.text)
        },
        403,
        /^certificate-removed$/,
      ],
    }
    for (const [what, [end, status, reason]] of Object.entries(ends)) {
      test(`R101: when ${what}, the open WebSocket of a session (${kind}) is closed and nothing of it passes`, async (t) => {
        const { service, edge } = shared
        const carol = await edge.admin.createIdentity({ password: 'a long password of carol' })
        const session = await begin(service, carol)
        const traveller = await travellerOf(session)
        const tunnel = await openTunnel(t, edge, traveller)
        assert.equal(tunnel.status, 101)
        const other = await openTunnel(t, edge, await travellerOf(await begin(service)))
        assert.equal(other.status, 101)

        await end(session, edge, traveller.certificateId)
        await tunnel.closed
        const answer = await pass(t, edge, traveller)
        assert.ok(answer)
        assert.equal(answer.status, status)
        const { requestId } = answer.json().error
        await waitFor(
          () => edge.log.some((line) => line.requestId === requestId && reason.test(line.reason)),
          () => `the reason in ${JSON.stringify(edge.log)}`,
        )
        assert.equal(other.socket.destroyed, false, 'nobody else is touched')
      })
    }
  })
}

test('the certificate of a login passes with the token that is bound to it, until its authenticator is removed', async (t) => {
  const service = await startService(t)
  const edge = await startRealEdge(t, service)
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa({ subject: '/CN=CA of the staff' })
  await registerCa(edge.admin, openssl, ca)
  const [own, stolen] = [await openssl.makeLeaf(ca), await openssl.makeLeaf(ca)]
  const { id } = await edge.admin.createIdentity({ name: 'dora', certPem: own.pem })
  const tokens = await logInByCertificate(presenting(service, own))
  const headers = { authorization: `Bearer ${tokens.access_token}` }

  const tunnel = await openTunnel(t, edge, { shown: shows(own), headers })
  assert.equal(tunnel.status, 101)
  await assertRefused(
    t,
    edge,
    { shown: shows(stolen), headers },
    { status: 403, reason: 'certificate-untrusted' },
  )
  const [authenticator] = await edge.admin.get(`/identities/${id}/authenticators`)
  await edge.admin.act('DELETE', `/authenticators/${authenticator.id}`)
  await tunnel.closed
  const answer = await pass(t, edge, { shown: shows(own), headers })
  assert.ok(answer?.status === 401 || answer?.status === 403)
})

test('a token that its client revokes closes what is open', async (t) => {
  const service = await startService(t)
  const edge = await startRealEdge(t, service)
  const session = await oidcSession(service)
  const tunnel = await openTunnel(t, edge, await travellerOf(session))
  assert.equal(tunnel.status, 101)
  const form = [
    ['token', session.token],
    ['client_id', 'service'],
  ] as const
  const reply = await service.call('/oidc/revoke', { form })
  assert.equal(reply.status, 200, reply.text)
  await tunnel.closed
})

test('a zt-session with a factor outstanding does not pass with the certificate of a whole one', async (t) => {
  const service = await startService(t)
  const edge = await startRealEdge(t, service)
  const whole = await travellerOf(await legacySession(service))
  const policy = await edge.admin.createPolicy({ secondary: { requireTotp: true } })
  const { username, password } = await edge.admin.createIdentity({
    name: 'erin',
    password: 'a long password of erin',
    policy,
  })
  const token = await legacyToken(service, { username, password })
  await assertRefused(
    t,
    edge,
    { ...whole, headers: { 'zt-session': token } },
    { status: 401, reason: 'token-invalid' },
  )
})
