/**
 * Withdrawing a CA, a signer or a login method affects everything that began with it: at the next refresh, the next
 * `zt-session` call, the exchange of a code and the next session certificate. D-27, D-36, D-119, D-122, D-225; R047. An
 * access token stays valid for its remaining minutes.
 */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { days } from '../../../src/base/time/duration.ts'
import { registerCa } from '../../support/certificates/certificate-login.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { enrolledPerson } from '../../support/certificates/renewal.ts'
import { registerIdp } from '../../support/idp/jwt-login.ts'
import {
  assertBackAgain,
  assertWithdrawn,
  beginAll,
  byCertificate,
  byJwt,
  byPassword,
  type Way,
} from '../../support/login/begun.ts'
import { answerTo, INVALID } from '../../support/login/challenges.ts'
import { ztSession } from '../../support/login/legacy.ts'
import { type Administrator, administrate } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { makeCa, makeLeaf } = openssl

const PASSWORD = 'a perfectly fine password'
const SESSION = '/edge/client/v1/current-api-session'

let count = 0
const newIssuer = () => `https://idp-${++count}.example.org`

interface World {
  readonly t: TestContext
  readonly service: Service
  readonly admin: Administrator
}

interface Withdrawal {
  readonly way: Way
  readonly withdraw: () => Promise<void>
  readonly reason: string
  /** Undefined if it cannot be undone. */
  readonly giveBack?: () => Promise<void>
}

/** Creates an enabled, registered CA, and a user with a certificate of it. */
async function partner({ service, admin }: World) {
  const ca = await makeCa({ notAfter: days(30) })
  const id = await registerCa(admin, openssl, ca)
  const leaf = await makeLeaf(ca)
  await admin.createIdentity({ certPem: leaf.pem })
  return { ca, id, leaf, way: byCertificate(service, leaf) }
}

async function idp({ t, service, admin }: World, policy?: string) {
  const known = await registerIdp(t, service, admin, { issuer: newIssuer(), useExternalId: false })
  const { id } = await admin.createIdentity(policy === undefined ? {} : { policy })
  return { known, way: byJwt(service, await known.jwt(id)) }
}

/** Disables one method of a policy, and enables it again. */
function methodOf(admin: Administrator, policy: string, method: 'updb' | 'cert' | 'extJwt') {
  const set = (allowed: boolean) => () =>
    admin.act('PATCH', `/auth-policies/${policy}`, { primary: { [method]: { allowed } } })
  return { withdraw: set(false), giveBack: set(true), reason: 'method-not-allowed' }
}

const WITHDRAWN: Readonly<Record<string, (world: World) => Promise<Withdrawal>>> = {
  'the CA of the certificate is switched off': async (world) => {
    const { id, way } = await partner(world)
    const set = (isAuthEnabled: boolean) => () =>
      world.admin.act('PATCH', `/cas/${id}`, { isAuthEnabled })
    return { way, withdraw: set(false), giveBack: set(true), reason: 'ca-disabled' }
  },
  'the CA of the certificate is deleted': async (world) => {
    const { id, way } = await partner(world)
    const withdraw = () => world.admin.act('DELETE', `/cas/${id}`)
    return { way, withdraw, reason: 'ca-disabled' }
  },
  'a CA between the certificate and the root is switched off': async (world) => {
    const { service, admin } = world
    const root = await makeCa({ subject: '/CN=Root', notAfter: days(30) })
    const middle = await makeCa({ subject: '/CN=Middle', issuer: root, notAfter: days(20) })
    const id = await registerCa(admin, openssl, middle)
    await registerCa(admin, openssl, root)
    const leaf = await makeLeaf(middle)
    await admin.createIdentity({ certPem: leaf.pem })
    const set = (isAuthEnabled: boolean) => () =>
      admin.act('PATCH', `/cas/${id}`, { isAuthEnabled })
    const way = byCertificate(service, leaf, middle)
    return { way, withdraw: set(false), giveBack: set(true), reason: 'ca-disabled' }
  },
  'the CA no longer says where the external id stands, and the certificate is not registered':
    async ({ service, admin }) => {
      const ca = await makeCa({ notAfter: days(30) })
      const externalIdClaim = { location: 'COMMON_NAME', matcher: 'ALL', parser: 'NONE' }
      const id = await registerCa(admin, openssl, ca, {
        externalIdClaim: { ...externalIdClaim, matcherCriteria: '', parserCriteria: '', index: 0 },
      })
      await admin.createIdentity({ externalId: 'by-claim' })
      const way = byCertificate(service, await makeLeaf(ca, { subject: '/CN=by-claim' }))
      const withdraw = () => admin.act('PATCH', `/cas/${id}`, { externalIdClaim: null })
      return { way, withdraw, reason: 'certificate-unknown' }
    },
  'the signer is disabled': async (world) => {
    const { known, way } = await idp(world)
    const set = (enabled: boolean) => () =>
      world.admin.act('PATCH', `/external-jwt-signers/${known.id}`, { enabled })
    return { way, withdraw: set(false), giveBack: set(true), reason: 'signer-disabled' }
  },
  'the signer is deleted': async (world) => {
    const { known, way } = await idp(world)
    const withdraw = () => world.admin.act('DELETE', `/external-jwt-signers/${known.id}`)
    return { way, withdraw, reason: 'signer-disabled' }
  },
  'the policy allows other signers alone': async (world) => {
    const { admin } = world
    const policy = await admin.createPolicy()
    const { way } = await idp(world, policy)
    const other = await admin.createSigner({ issuer: newIssuer() })
    const set = (allowedSigners: readonly string[]) => () =>
      admin.act('PATCH', `/auth-policies/${policy}`, { primary: { extJwt: { allowedSigners } } })
    return { way, withdraw: set([other]), giveBack: set([]), reason: 'method-not-allowed' }
  },
  'the policy allows no passwords': async ({ service, admin }) => {
    const policy = await admin.createPolicy()
    const person = await admin.createIdentity({ password: PASSWORD, policy })
    return { way: byPassword(service, person), ...methodOf(admin, policy, 'updb') }
  },
  'the policy allows no certificates': async ({ service, admin }) => {
    const policy = await admin.createPolicy()
    const { certificate } = await enrolledPerson(service, admin, openssl, { policy })
    return { way: byCertificate(service, certificate), ...methodOf(admin, policy, 'cert') }
  },
  'the policy allows no external JWTs': async (world) => {
    const policy = await world.admin.createPolicy()
    const { way } = await idp(world, policy)
    return { way, ...methodOf(world.admin, policy, 'extJwt') }
  },
}

test('R047: ends everything that was begun with a withdrawn credential', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  for (const [what, arrange] of Object.entries(WITHDRAWN)) {
    await t.test(`when ${what}`, async () => {
      const { way, withdraw, reason, giveBack } = await arrange({ t, service, admin })
      const begun = await beginAll(service, way)
      await assertBackAgain(service, begun)
      const again = await beginAll(service, way)
      await withdraw()
      await assertWithdrawn(service, again, reason)
      // D-232: the access token as well, unless it does not name what was withdrawn; then it counts at the refresh.
      const isNamed = reason !== 'certificate-unknown'
      assert.equal(await answerTo(service, again.tokens.access_token), isNamed ? INVALID : 'taken')
      await giveBack?.()
      if (giveBack !== undefined) await assertBackAgain(service, again)
    })
  }
})

test('D-52: a withdrawn login may still log out', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const { id, way } = await partner({ t, service, admin })
  const { zt } = await beginAll(service, way)
  await admin.act('DELETE', `/cas/${id}`)
  const reply = await service.call(SESSION, { method: 'DELETE', ...ztSession(zt) })
  assert.equal(reply.status, 200, reply.text)
})

test('deleting a CA does not affect certificates of other CAs', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const world = { t, service, admin }
  const [one, other] = [await partner(world), await partner(world)]
  const { certificate } = await enrolledPerson(service, admin, openssl)
  const ours = await beginAll(service, byCertificate(service, certificate))
  const theirs = await beginAll(service, other.way)
  await admin.act('DELETE', `/cas/${one.id}`)
  await assertBackAgain(service, ours)
  await assertBackAgain(service, theirs)
})
