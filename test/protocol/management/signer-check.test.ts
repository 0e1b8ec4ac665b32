/** POST /external-jwt-signers/{id}/check: why a JWT would or would not log somebody in. API 3.3, D-136; R104–R108. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import { epochSeconds, instant, toRfc3339 } from '../../../src/base/time/instant.ts'
import { CheckedJwtReply } from '../../../src/contract/management/signer-check.ts'
import { signJwt } from '../../support/idp/external-idp.ts'
import { bearers, jwtLogin, registerIdp } from '../../support/idp/jwt-login.ts'
import { jwtPart } from '../../support/jwt-part.ts'
import { type Administrator, administrate, assertRefused } from '../../support/management.ts'
import { logLines } from '../../support/monitoring/log-lines.ts'
import { startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const ISSUER = 'https://idp.example'

async function world(t: TestContext, changes: Readonly<Record<string, unknown>> = {}) {
  const service = await startService(t)
  const admin = await administrate(service)
  const idp = await registerIdp(t, service, admin, { issuer: ISSUER, ...changes })
  const zoe = await admin.createIdentity({ name: 'zoe', externalId: 'zoe@example.org' })
  return { service, admin, idp, zoe }
}

async function check(admin: Administrator, id: string, jwt: string) {
  const reply = await admin.call('POST', `/external-jwt-signers/${id}/check`, { jwt })
  assert.equal(reply.status, 200, reply.text)
  const { data } = CheckedJwtReply.parse(reply.json())
  assert.deepEqual(
    data.steps.map(({ step }) => step),
    ['signer', 'signature', 'times', 'issuer', 'audience', 'claim', 'identity', 'policy'],
  )
  const step = (name: string) => data.steps.find((one) => one.step === name) ?? assert.fail(name)
  const verdicts = Object.fromEntries(data.steps.map((one) => [one.step, one.passed]))
  return { ...data, step, verdicts, reply }
}

const ALL_GOOD = {
  signer: true,
  signature: true,
  times: true,
  issuer: true,
  audience: true,
  claim: true,
  identity: true,
  policy: true,
}

test('the check of a signer', async (t) => {
  const { service, admin, idp, zoe } = await world(t)
  const SUBJECT = 'zoe@example.org'

  await t.test(
    'a token that would log in passes every step, with the compared values',
    async () => {
      const jwt = await idp.jwt(SUBJECT)
      const { passed, verdicts, step } = await check(admin, idp.id, jwt)
      assert.equal(passed, true)
      assert.deepEqual(verdicts, ALL_GOOD)
      assert.deepEqual([step('issuer').expected, step('issuer').received], [idp.issuer, idp.issuer])
      assert.deepEqual(
        [step('audience').expected, step('audience').received],
        ['latchkey', 'latchkey'],
      )
      assert.equal(step('claim').received, SUBJECT)
      assert.equal(step('signature').received, 'kid a-key, alg ES256')
      assert.match(step('signature').expected ?? '', /a-key \(ES256\)/)
      assert.equal(step('identity').received, `${zoe.id} (zoe)`)
      assert.equal(step('policy').received, 'default (default)')
      assert.equal((await jwtLogin(service, jwt)).status, 302)
    },
  )

  await t.test('a wrong issuer and a wrong audience are both shown', async () => {
    const jwt = await idp.jwt(SUBJECT, { iss: `${ISSUER}/`, aud: ['other', 'another'] })
    const { passed, verdicts, step } = await check(admin, idp.id, jwt)
    assert.equal(passed, false)
    assert.deepEqual(verdicts, { ...ALL_GOOD, issuer: false, audience: false })
    assert.deepEqual([step('issuer').expected, step('issuer').received], [ISSUER, `${ISSUER}/`])
    assert.deepEqual(
      [step('audience').expected, step('audience').received],
      ['latchkey', 'other, another'],
    )
  })

  await t.test('an expired token says when it expired', async () => {
    const { verdicts, step } = await check(admin, idp.id, await idp.expired(SUBJECT))
    assert.deepEqual(verdicts, { ...ALL_GOOD, times: false })
    assert.equal(step('times').message, 'the token has expired')
    assert.match(step('times').received ?? '', /^exp \d{4}-\S+Z, nbf none, iat \d{4}-\S+Z$/)
  })

  await t.test('R056: nbf and iat have a minute of leeway, and exp has none (D-387)', async () => {
    service.clock.hold()
    const now = epochSeconds(service.clock.now())
    for (const [claims, isGood] of [
      [{ exp: now + 1 }, true],
      [{ exp: now }, false],
      [{ nbf: now + 60 }, true],
      [{ nbf: now + 61 }, false],
      [{ iat: now + 60 }, true],
      [{ iat: now + 61 }, false],
      [{ exp: undefined }, false],
      [{ exp: 'soon' }, false],
    ] as const) {
      const { verdicts } = await check(admin, idp.id, await idp.jwt(SUBJECT, claims))
      assert.deepEqual(verdicts, { ...ALL_GOOD, times: isGood }, JSON.stringify(claims))
    }
    const { step } = await check(admin, idp.id, await idp.jwt(SUBJECT, { exp: now - 60 }))
    assert.ok(step('times').received?.startsWith(`exp ${toRfc3339(instant((now - 60) * 1_000))}`))
  })

  await t.test('R105: a signature by another key under the same kid', async () => {
    const { verdicts, step } = await check(admin, idp.id, await idp.forged(SUBJECT))
    assert.deepEqual(verdicts, { ...ALL_GOOD, signature: false })
    assert.match(step('signature').message, /signature is not by that key/)
  })

  await t.test('an unknown kid, and an algorithm that is not allowed', async () => {
    const unknown = await check(admin, idp.id, await idp.jwt(SUBJECT, {}, { kid: 'gone' }))
    assert.deepEqual(unknown.verdicts, { ...ALL_GOOD, signature: false })
    assert.equal(unknown.step('signature').received, 'kid gone, alg ES256')
    assert.match(unknown.step('signature').expected ?? '', /a-key/)
    const none = `${jwtPart({ alg: 'none' })}.${(await idp.jwt(SUBJECT)).split('.')[1]}.`
    const unsigned = await check(admin, idp.id, none)
    assert.deepEqual(unsigned.verdicts, { ...ALL_GOOD, signature: false })
  })

  await t.test('a claim that is missing leaves identity and policy undecided', async () => {
    const { verdicts } = await check(admin, idp.id, await idp.jwt(SUBJECT, { sub: undefined }))
    assert.deepEqual(verdicts, { ...ALL_GOOD, claim: false, identity: null, policy: null })
  })

  await t.test('a claim that names no identity leaves the policy undecided', async () => {
    const { verdicts, step } = await check(admin, idp.id, await idp.jwt('nobody@example.org'))
    assert.deepEqual(verdicts, { ...ALL_GOOD, identity: false, policy: null })
    assert.equal(step('identity').message, 'no identity has this external id')
  })

  await t.test('a text that is not a JWT fails at once, and the rest is not reached', async () => {
    for (const jwt of ['x', 'a.b.c', `${jwtPart({ alg: 'ES256' })}.${jwtPart([1])}.AAAA`]) {
      const { passed, verdicts } = await check(admin, idp.id, jwt)
      assert.equal(passed, false)
      assert.deepEqual(verdicts, {
        signer: true,
        signature: false,
        times: null,
        issuer: null,
        audience: null,
        claim: null,
        identity: null,
        policy: null,
      })
    }
  })

  await t.test('a disabled identity and a policy that forbids it are both shown', async () => {
    const policy = await admin.createPolicy({ primary: { updb: { allowed: true } } })
    const ada = await admin.createIdentity({ externalId: 'ada@example.org', policy })
    await admin.act('POST', `/identities/${ada.id}/disable`)
    const { verdicts, step } = await check(admin, idp.id, await idp.jwt('ada@example.org'))
    assert.deepEqual(verdicts, { ...ALL_GOOD, identity: false, policy: false })
    assert.match(step('policy').message, /does not allow logins by external JWT/)
  })

  await t.test('a signer that is only the second factor says so', async () => {
    const policy = await admin.createPolicy({
      primary: { updb: { allowed: true } },
      secondary: { requireExtJwt: idp.id },
    })
    await admin.createIdentity({ externalId: 'eve@example.org', policy })
    const { verdicts, step } = await check(admin, idp.id, await idp.jwt('eve@example.org'))
    assert.deepEqual(verdicts, { ...ALL_GOOD, policy: false })
    assert.match(step('policy').message, /second factor only/)
  })

  await t.test('R108: neither the token nor its signature nor other claims come back', async () => {
    const secret = 'marker-of-a-claim-that-is-nobodys-business'
    const jwt = await idp.jwt(SUBJECT, { email: secret, nested: { secret } })
    const { reply } = await check(admin, idp.id, jwt)
    const [head = '', claims = '', signature = ''] = jwt.split('.')
    for (const text of [jwt, head, claims, signature, secret]) {
      assert.equal(reply.text.includes(text), false)
    }
    const requestId = reply.headers['x-request-id']
    const lines = await logLines(service, (line) => line.requestId === requestId)
    assert.equal(JSON.stringify(lines).includes(signature), false)
    assert.equal(decodeProtectedHeader(jwt).kid, 'a-key')
  })

  await t.test('long values are cut', async () => {
    const long = 'x'.repeat(5_000)
    const { reply } = await check(admin, idp.id, await idp.jwt(SUBJECT, { iss: long, aud: [long] }))
    assert.equal(reply.text.includes('x'.repeat(300)), false)
    assert.ok(reply.text.includes('x'.repeat(200)))
  })

  await t.test('logs in no identity, counts nothing and writes no event', async () => {
    const count = async () =>
      (await sql(service, 'select count(*) as n from events')).map(({ n }) => Number(n))
    const before = await count()
    for (let i = 0; i < 70; i++) {
      const { passed } = await check(admin, idp.id, 'x')
      assert.equal(passed, false)
    }
    assert.deepEqual(await count(), before)
    // 70 failed logins would have used up the limit of this address (D-22).
    assert.equal((await jwtLogin(service, await idp.jwt(SUBJECT))).status, 302)
  })

  await t.test(
    'R107: unknown kids lead to one fetch a second, for checks as for logins',
    async () => {
      const before = idp.server.fetches
      const begun = performance.now()
      for (let i = 0; i < 20; i++) {
        await check(admin, idp.id, await idp.jwt(SUBJECT, {}, { kid: `stranger-${i}` }))
      }
      const seconds = Math.ceil((performance.now() - begun) / 1_000)
      assert.ok(
        idp.server.fetches - before <= seconds + 1,
        `${idp.server.fetches - before} fetches`,
      )
    },
  )
})

test('a disabled signer is reported as disabled, and its token is checked anyway', async (t) => {
  const { service, admin, idp } = await world(t, { enabled: false })
  const jwt = await idp.jwt('zoe@example.org')
  const { passed, verdicts, step } = await check(admin, idp.id, jwt)
  assert.equal(passed, false)
  assert.deepEqual(verdicts, { ...ALL_GOOD, signer: false })
  assert.deepEqual([step('signer').expected, step('signer').received], ['enabled', 'disabled'])
  assert.equal((await jwtLogin(service, jwt)).status, 401)
})

test('the claim is the one of the signer, and may name the identity by its id', async (t) => {
  const { admin, idp, zoe } = await world(t, {
    claimsProperty: '/who/id',
    useExternalId: false,
  })
  const good = await signJwt(idp.key, {
    iss: idp.issuer,
    aud: 'latchkey',
    exp: 4_000_000_000,
    who: { id: zoe.id },
  })
  const { verdicts, step } = await check(admin, idp.id, good)
  assert.deepEqual(verdicts, ALL_GOOD)
  assert.equal(step('claim').expected, 'a text of one line at /who/id')
  assert.equal(step('claim').received, zoe.id)
  const other = await check(admin, idp.id, await idp.jwt('zoe@example.org'))
  assert.deepEqual(other.verdicts, { ...ALL_GOOD, claim: false, identity: null, policy: null })
})

test('what is asked wrongly is refused', async (t) => {
  const { service, admin, idp } = await world(t)
  const url = `/external-jwt-signers/${idp.id}/check`
  const jwt = await idp.jwt('zoe@example.org')
  assertRefused(
    await admin.call('POST', '/external-jwt-signers/nothing/check', { jwt }),
    404,
    'NOT_FOUND',
  )
  assertRefused(await admin.call('POST', url, {}), 400, 'COULD_NOT_VALIDATE', 'jwt')
  assertRefused(await admin.call('POST', url, { jwt: '' }), 400, 'COULD_NOT_VALIDATE', 'jwt')
  assertRefused(await admin.call('POST', url, { jwt: 7 }), 400, 'COULD_NOT_VALIDATE', 'jwt')
  assertRefused(
    await admin.call('POST', url, { jwt: 'x'.repeat(16_385) }),
    400,
    'COULD_NOT_VALIDATE',
    'jwt',
  )
  assertRefused(await admin.call('POST', url, { jwt, more: 1 }), 400, 'COULD_NOT_VALIDATE', 'more')
  // The token of a login is no credential here.
  const reply = await service.call(`/edge/management/v1${url}`, { ...bearers(jwt), json: { jwt } })
  assertRefused(reply, 401, 'UNAUTHORIZED')
})
