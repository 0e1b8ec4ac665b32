/**
 * Rotation of signing keys, as clients see it: on command, by age and by configuration. D-23, R061, R062. The clock
 * is moved; a service that comes back keeps its address, so that its issuer stays the same.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JWK, jwtVerify } from 'jose'
import { rotateSigningKeys } from '../../../src/app/installation/rotate-signing-keys.ts'
import { milliseconds, minutes } from '../../../src/base/time/duration.ts'
import { PUBLISH_LEAD } from '../../../src/domain/tokens/keys/key-schedule.ts'
import { EXPIRED, IDENTITY } from '../../support/login/challenges.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { freePort, webAt } from '../../support/ports.ts'
import { type Service, type ServiceOptions, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

/** The kids of access tokens: by default those keys are ES256, and those of ID tokens RS256 (D-320). */
async function kidsOf(service: Service, algorithm = 'ES256'): Promise<string[]> {
  const { keys } = (await service.call('/oidc/keys')).json() as { keys: JWK[] }
  return keys.filter(({ alg }) => alg === algorithm).map(({ kid = '' }) => kid)
}

const signedWith = (token: string) => decodeProtectedHeader(token).kid

async function login(service: Service): Promise<string> {
  return (await logIn(service)).access_token
}

/** The same home and clock again, perhaps with another configuration. */
async function restart(
  t: TestContext,
  service: Service,
  config?: ServiceOptions['config'],
): Promise<Service> {
  const { home, clock } = service
  await service.stop()
  return startService(t, config === undefined ? { home, clock } : { home, clock, config })
}

test('D-23: rotation on command', async (t) => {
  const first = await startService(t, { config: { web: webAt(await freePort()) } })
  const early = await login(first)
  const [[oldKid], [oldIdKid]] = [await kidsOf(first), await kidsOf(first, 'RS256')]
  const { access: made, id } = await rotateSigningKeys(first.config)
  const service = await restart(t, first)

  await t.test('the new key is published before its first use', async () => {
    assert.deepEqual(await kidsOf(service), [oldKid, made.kid])
    assert.equal(signedWith(await login(service)), oldKid)
  })

  await t.test('R061: the kid of the old key has not changed', () => {
    assert.equal(signedWith(early), oldKid)
  })

  await t.test('it signs when it has been published for the lead', async () => {
    service.clock.advance(PUBLISH_LEAD)
    const { access_token, id_token } = await logIn(service)
    assert.deepEqual([signedWith(access_token), signedWith(id_token)], [made.kid, id.kid])
  })

  await t.test('R062: logins and calls go on, with tokens of either key', async () => {
    const tokens = await Promise.all(Array.from({ length: 10 }, () => login(service)))
    const all = await Promise.all(
      [early, ...tokens].map((token) => service.call(IDENTITY, bearer(token))),
    )
    assert.deepEqual(new Set(all.map(({ status }) => status)), new Set([200]))
  })

  await t.test('a verifier with the key set of now takes tokens of both keys', async () => {
    const keys = createLocalJWKSet((await service.call('/oidc/keys')).json())
    const currentDate = new Date(service.clock.now())
    for (const token of [early, await login(service)]) await jwtVerify(token, keys, { currentDate })
  })

  await t.test('tokens of the old key stay good until they expire', async () => {
    const left = Number(decodeJwt(early).exp) * 1_000 - service.clock.now()
    service.clock.advance(milliseconds(left - 10_000))
    assert.equal((await service.call(IDENTITY, bearer(early))).status, 200)
    service.clock.advance(milliseconds(10_000))
    const expired = await service.call(IDENTITY, bearer(early))
    assert.equal(expired.headers['www-authenticate'], EXPIRED)
  })

  await t.test('R061: the old key disappears when no token of it can be alive', async () => {
    service.clock.advance(minutes(30))
    assert.deepEqual(await kidsOf(service), [made.kid])
    assert.equal((await service.call(IDENTITY, bearer(await login(service)))).status, 200)
  })

  await t.test('every key that was made is in the audit log', async () => {
    const events = await sql(
      service,
      "select details from events where type = 'signing-key.created'",
    )
    const kids = events.map(({ details }) => JSON.parse(String(details)).kid)
    assert.deepEqual(kids.sort(), [oldKid, oldIdKid, made.kid, id.kid].sort())
  })
})

test('D-23: rotation by age', async (t) => {
  const config = { web: webAt(await freePort()), edge: { oidc: { keyRotation: '2h' } } }
  const first = await startService(t, { config })
  const [oldKid] = await kidsOf(first)
  first.clock.advance(milliseconds(minutes(120) - PUBLISH_LEAD - minutes(1)))
  const before = await restart(t, first)
  assert.deepEqual(await kidsOf(before), [oldKid], 'a minute too early')
  before.clock.advance(minutes(1))
  const service = await restart(t, before)
  const [kept, newKid, ...others] = await kidsOf(service)
  assert.deepEqual([kept, others], [oldKid, []])
  assert.equal(signedWith(await login(service)), oldKid)
  service.clock.advance(PUBLISH_LEAD)
  assert.equal(signedWith(await login(service)), newKid)
})

test('D-23: another algorithm in the configuration takes effect with a new key', async (t) => {
  const first = await startService(t, { config: { web: webAt(await freePort()) } })
  const early = (await logIn(first)).id_token
  const edge = { oidc: { idTokenAlgorithm: 'EdDSA' } }
  const service = await restart(t, first, { edge })
  const algorithms = async () =>
    (await service.call('/.well-known/openid-configuration')).json()
      .id_token_signing_alg_values_supported

  assert.deepEqual(await algorithms(), ['RS256', 'EdDSA'])
  assert.equal(decodeProtectedHeader((await logIn(service)).id_token).alg, 'RS256')
  service.clock.advance(PUBLISH_LEAD)
  const { access_token, id_token: late } = await logIn(service)
  assert.equal(decodeProtectedHeader(late).alg, 'EdDSA')
  assert.equal((await service.call(IDENTITY, bearer(access_token))).status, 200)
  for (const hint of [early, late]) {
    const reply = await service.call(`/oidc/end_session?id_token_hint=${hint}`)
    assert.equal(reply.status, 200, reply.text)
  }
  service.clock.advance(minutes(30))
  assert.deepEqual(await algorithms(), ['EdDSA'])
})

test('R061: a longer life of tokens keeps the key that signed them for as long', async (t) => {
  const oidc = { accessTokenDuration: '5h', idTokenDuration: '5h' }
  const first = await startService(t, { config: { web: webAt(await freePort()), edge: { oidc } } })
  const early = await login(first)
  await rotateSigningKeys(first.config)
  const shorter = { accessTokenDuration: '5m', idTokenDuration: '5m' }
  const service = await restart(t, first, { edge: { oidc: shorter } })
  service.clock.advance(minutes(4 * 60))
  assert.equal((await kidsOf(service)).includes(signedWith(early) ?? ''), true)
  assert.equal((await service.call(IDENTITY, bearer(early))).status, 200)
})
