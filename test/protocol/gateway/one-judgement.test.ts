/**
 * One decision everywhere: whatever is withdrawn or tightened applies to the APIs, to introspection, to routers and to
 * the connections that are open there. D-42, D-52, D-232. Attack: an administrator demands a second factor because a
 * password has leaked; the controller refuses the thief's token, but the gateway accepts it until it expires.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { decodeJwt } from 'jose'
import type { RefusalReason } from '../../../src/router/router.ts'
import {
  logInByCertificate,
  presenting,
  registerCa,
} from '../../support/certificates/certificate-login.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import {
  type LiveSession,
  legacyCertificateSession,
  legacySession,
  oidcSession,
} from '../../support/edge/live-session.ts'
import { openTunnel, pass, startRealEdge, travellerOf } from '../../support/edge/real-edge.ts'
import { eventually } from '../../support/eventually.ts'
import type { Reply } from '../../support/http-client.ts'
import { logInByJwt, registerIdp, secondaryChallenge } from '../../support/idp/jwt-login.ts'
import { CODE_DEMANDED, INVALID, NO_SUCH_SESSION } from '../../support/login/challenges.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { bearer } from '../../support/login/login.ts'
import { post } from '../../support/login/refresh.ts'
import { type Service, startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'

async function start(t: TestContext) {
  const service = await startService(t)
  const edge = await startRealEdge(t, service)
  const { admin } = edge
  const idp = await registerIdp(t, service, admin, { issuer: 'https://first.example' })
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa({ subject: '/CN=Some CA' })
  const caId = await registerCa(admin, openssl, ca)
  return { service, edge, admin, idp, openssl, ca, caId }
}
type World = Awaited<ReturnType<typeof start>>

/** A user with their own policy. */
interface Person {
  readonly id: string
  readonly username: string
  readonly password: string
  readonly policy: string
}

async function createPerson(world: World, changes: object = {}): Promise<Person> {
  const { admin } = world
  const policy = await admin.createPolicy()
  return { ...(await admin.createIdentity({ password: PASSWORD, policy, ...changes })), policy }
}

function sessionWith(service: Service, token: string): LiveSession {
  const { z_asid, sub } = decodeJwt(token)
  const headers = { authorization: `Bearer ${token}` }
  return {
    kind: 'oidc',
    id: String(z_asid),
    identityId: String(sub),
    token,
    refreshToken: undefined,
    idToken: undefined,
    headers,
    call: (path, options = {}, at = service) =>
      at.call(path, { ...options, headers: { ...options.headers, ...headers } }),
  }
}

/** The ways to log in. */
const LOGINS = {
  async password(world: World) {
    const person = await createPerson(world)
    return { person, session: await oidcSession(world.service, person) }
  },
  async 'zt-session'(world: World) {
    const person = await createPerson(world)
    return { person, session: await legacySession(world.service, person) }
  },
  async jwt(world: World) {
    const externalId = `zoe-${Math.trunc(world.service.clock.uptime())}`
    const person = await createPerson(world, { externalId })
    const { access_token } = await logInByJwt(world.service, await world.idp.jwt(externalId))
    return { person, session: sessionWith(world.service, access_token) }
  },
  async certificate(world: World) {
    const leaf = await world.openssl.makeLeaf(world.ca)
    const person = await createPerson(world, { certPem: leaf.pem })
    const { access_token } = await logInByCertificate(presenting(world.service, leaf))
    return { person, session: sessionWith(world.service, access_token) }
  },
  async 'certificate zt-session'(world: World) {
    const leaf = await world.openssl.makeLeaf(world.ca)
    const person = await createPerson(world, { certPem: leaf.pem })
    return { person, session: await legacyCertificateSession(presenting(world.service, leaf)) }
  },
}

interface Withdrawal {
  readonly by: keyof typeof LOGINS
  readonly withdraw: (world: World, person: Person, session: LiveSession) => Promise<void>
  /** Undoes it if other cases use the same thing. */
  readonly restore?: (world: World) => Promise<void>
  /** The challenge of the APIs and of the gateway; `atGateway` if the gateway's is different. */
  readonly challenge: (world: World) => string
  readonly atGateway?: string
  readonly reason: RefusalReason
  readonly closes: 'ended' | 'policy'
  /** A bound token stays active, and introspection says what it is bound to (RFC 8705 §3.2). */
  readonly introspection?: 'active with cnf'
}

const patchPolicy =
  (changes: object) =>
  (world: World, { policy }: Person) =>
    world.admin.act('PATCH', `/auth-policies/${policy}`, changes)
const endSession = (world: World, _: Person, { id }: LiveSession) =>
  world.admin.act('DELETE', `/api-sessions/${id}`)
const demandTotp = patchPolicy({ secondary: { requireTotp: true } })
const demandJwt = (world: World, person: Person) =>
  patchPolicy({ secondary: { requireExtJwt: world.idp.id } })(world, person)
const invalid = () => INVALID
const gone = () => NO_SUCH_SESSION

const WITHDRAWALS: Readonly<Record<string, Withdrawal>> = {
  'a session that is ended': {
    by: 'password',
    withdraw: endSession,
    challenge: invalid,
    reason: 'session-ended',
    closes: 'ended',
  },
  'an identity that is disabled': {
    by: 'password',
    withdraw: ({ admin }, { id }) => admin.act('POST', `/identities/${id}/disable`, {}),
    challenge: invalid,
    reason: 'session-ended',
    closes: 'ended',
  },
  'an identity that gets another policy': {
    by: 'password',
    withdraw: ({ admin }, { id }) =>
      admin.act('PATCH', `/identities/${id}`, { authPolicyId: 'default' }),
    challenge: invalid,
    reason: 'session-ended',
    closes: 'ended',
  },
  'a policy that demands a code': {
    by: 'password',
    withdraw: demandTotp,
    challenge: () => CODE_DEMANDED,
    reason: 'policy-unmet',
    closes: 'policy',
  },
  'a policy that demands a JWT beside every request': {
    by: 'password',
    withdraw: demandJwt,
    challenge: ({ idp }) => secondaryChallenge('missing', idp),
    reason: 'secondary-jwt-required',
    closes: 'policy',
  },
  'a policy that forbids passwords': {
    by: 'password',
    withdraw: patchPolicy({ primary: { updb: { allowed: false } } }),
    challenge: invalid,
    reason: 'policy-unmet',
    closes: 'policy',
  },
  'a policy that forbids certificates': {
    by: 'certificate',
    withdraw: patchPolicy({ primary: { cert: { allowed: false } } }),
    challenge: invalid,
    reason: 'policy-unmet',
    closes: 'policy',
  },
  'a policy that binds tokens to their certificate': {
    by: 'certificate',
    withdraw: patchPolicy({ primary: { cert: { bindTokens: true } } }),
    challenge: invalid,
    reason: 'token-bound-elsewhere',
    closes: 'policy',
    introspection: 'active with cnf',
  },
  'a policy that forbids external JWTs': {
    by: 'jwt',
    withdraw: patchPolicy({ primary: { extJwt: { allowed: false } } }),
    challenge: invalid,
    reason: 'policy-unmet',
    closes: 'policy',
  },
  'a signer that is disabled': {
    by: 'jwt',
    withdraw: ({ admin, idp }) =>
      admin.act('PATCH', `/external-jwt-signers/${idp.id}`, { enabled: false }),
    restore: ({ admin, idp }) =>
      admin.act('PATCH', `/external-jwt-signers/${idp.id}`, { enabled: true }),
    challenge: invalid,
    reason: 'policy-unmet',
    closes: 'policy',
  },
  'a third-party CA that is disabled': {
    by: 'certificate',
    withdraw: ({ admin, caId }) => admin.act('PATCH', `/cas/${caId}`, { isAuthEnabled: false }),
    restore: ({ admin, caId }) => admin.act('PATCH', `/cas/${caId}`, { isAuthEnabled: true }),
    challenge: invalid,
    reason: 'policy-unmet',
    closes: 'policy',
  },
  'a legacy session that is ended': {
    by: 'zt-session',
    withdraw: endSession,
    challenge: gone,
    reason: 'token-invalid',
    closes: 'ended',
  },
  'a legacy session whose third-party CA is deleted': {
    by: 'certificate zt-session',
    withdraw: ({ admin, caId }) => admin.act('DELETE', `/cas/${caId}`),
    challenge: gone,
    reason: 'token-invalid',
    closes: 'policy',
  },
  'a legacy session whose policy demands a code': {
    by: 'zt-session',
    withdraw: demandTotp,
    challenge: gone,
    reason: 'token-invalid',
    closes: 'policy',
  },
  'a legacy session whose policy demands a JWT': {
    by: 'zt-session',
    withdraw: demandJwt,
    challenge: ({ idp }) => secondaryChallenge('missing', idp),
    atGateway: NO_SUCH_SESSION,
    reason: 'token-invalid',
    closes: 'policy',
  },
}

function assertRefused(reply: Reply, challenge: string): void {
  assert.equal(reply.status, 401, reply.text)
  assert.equal(reply.json().error.code ?? reply.json().error, 'UNAUTHORIZED')
  assert.equal(reply.headers['www-authenticate'], challenge)
}

test('D-232: every entry point makes the same decision', async (t) => {
  const world = await start(t)
  const { service, edge, admin } = world

  for (const [what, withdrawal] of Object.entries(WITHDRAWALS)) {
    await t.test(what, async (t) => {
      const { person, session } = await LOGINS[withdrawal.by](world)
      const traveller = await travellerOf(session)
      const token =
        session.kind === 'oidc' ? { bearer: session.token } : { ztSession: session.token }
      const certificate = new X509Certificate(traveller.shown.cert).raw
      const introspect = () =>
        post(service, '/oidc/introspect', { token: session.token }, bearer(admin.token))

      // Until then every entry point accepts it. A new policy may reach the router a moment later.
      await eventually(async () => {
        const { verdict } = await edge.router.check({ certificate, token })
        return verdict === 'accepted' || undefined
      }, 'acceptance')
      assert.equal((await session.call(`${CLIENT_API}/current-identity`)).status, 200)
      assert.equal((await pass(t, edge, traveller))?.status, 200)
      const tunnel = await openTunnel(t, edge, traveller)
      assert.equal(tunnel.status, 101)
      if (session.kind === 'oidc') assert.equal((await introspect()).json().active, true)

      await withdrawal.withdraw(world, person, session)

      const challenge = withdrawal.challenge(world)
      await t.test('open WebSocket', async () => {
        await tunnel.closed
        const closed = edge.log.findLast(
          ({ msg, sessionId }) =>
            msg === 'an open connection is closed' && sessionId === session.id,
        )
        assert.equal(closed?.why, withdrawal.closes)
      })
      await t.test('API call', async () => {
        for (const path of ['current-identity', 'current-api-session/certificates']) {
          assertRefused(await session.call(`${CLIENT_API}/${path}`), challenge)
        }
      })
      if (session.kind === 'oidc') {
        await t.test('userinfo', async () => {
          const reply = await session.call('/oidc/userinfo')
          assert.equal(reply.status, 401, reply.text)
          assert.equal(reply.headers['www-authenticate'], challenge)
        })
        await t.test('introspection', async () => {
          const { active, cnf } = (await introspect()).json()
          const { cnf: bound } = decodeJwt(session.token)
          if (withdrawal.introspection === undefined) assert.equal(active, false)
          else assert.deepEqual([active, cnf], [true, bound])
        })
      }
      await t.test('router library', async () => {
        // A check of a zt-session is cached for a second; the policy arrives before that.
        await eventually(async () => {
          const verdict = await edge.router.check({ certificate, token })
          assert.ok(verdict.verdict === 'refused')
          return verdict.reason === withdrawal.reason || undefined
        }, `a refusal: ${withdrawal.reason}`)
      })
      await t.test('gateway', async () => {
        const reply = await pass(t, edge, traveller)
        assert.equal(reply?.status, 401, String(reply?.text))
        assert.equal(reply?.json().error.code, 'UNAUTHORIZED')
        assert.equal(reply?.header('www-authenticate'), withdrawal.atGateway ?? challenge)
      })
      await withdrawal.restore?.(world)
    })
  }
})
