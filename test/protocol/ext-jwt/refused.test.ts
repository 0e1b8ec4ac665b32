/**
 * Logins with a JWT of somebody else that fail. What a better token would mend gets the challenge that says which, and
 * everything else the one answer of all failed logins; the exact reason is in the audit log. D-12, D-51; R053, R054,
 * R056, R057, R065, R104. Each refusal at all three doors: the OIDC login and both legacy ones.
 */

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { decodeJwt, exportSPKI, importJWK } from 'jose'
import { milliseconds, minutes } from '../../../src/base/time/duration.ts'
import { epochSeconds } from '../../../src/base/time/instant.ts'
import { comparable, failureOf } from '../../support/audit.ts'
import type { CallOptions, Reply } from '../../support/http-client.ts'
import { newIdpKey, signJwt } from '../../support/idp/external-idp.ts'
import {
  AUDIENCE,
  assertChallenged,
  bearers,
  type Challenged,
  type Fault,
  inOneField,
  jwtLogin,
  type KnownIdp,
  primaryChallenge,
  registerIdp,
} from '../../support/idp/jwt-login.ts'
import { jwtPart } from '../../support/jwt-part.ts'
import { MISSING } from '../../support/login/challenges.ts'
import { APIS } from '../../support/login/legacy.ts'
import { bearer, beginLogin } from '../../support/login/login.ts'
import { administrate } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'

const WITHOUT_LIMIT = { edge: { limits: { failuresPerAddress: 0 } } }

type Door = (service: Service, options: CallOptions) => Promise<Reply>

const DOORS: Readonly<Record<string, Door>> = {
  '/oidc/login/ext-jwt': async (service, options) => {
    const { authRequestId } = await beginLogin(service)
    return service.call('/oidc/login/ext-jwt', { ...options, json: { authRequestId } })
  },
  ...Object.fromEntries(
    APIS.map((api): [string, Door] => {
      const path = `${api}/authenticate?method=ext-jwt`
      return [path, (service, options) => service.call(path, { method: 'POST', ...options })]
    }),
  ),
}

test('external JWTs that do not log in', async (t) => {
  const service = await startService(t, { config: WITHOUT_LIMIT })
  const admin = await administrate(service)
  const make = (name: string, changes = {}) =>
    registerIdp(t, service, admin, { name, issuer: `https://${name}.example`, ...changes })
  const idp = await make('first')
  const other = await make('second')
  const off = await make('third', { enabled: false })
  await admin.createIdentity({ name: 'zoe', externalId: 'zoe' })
  assert.equal((await jwtLogin(service, await idp.jwt('zoe'))).status, 302, 'a good one gets in')

  const ALL = [idp, other]
  const now = () => epochSeconds(service.clock.now())
  const publicKey = await importJWK(idp.key.jwk, 'ES256')
  assert.ok(!(publicKey instanceof Uint8Array))
  const pem = await exportSPKI(publicKey)

  /** Signed with a text that everybody knows. */
  async function hmac(secret: string, alg: string): Promise<string> {
    const header = jwtPart({ alg, kid: 'a-key', typ: 'JWT' })
    const payload = (await idp.jwt('zoe')).split('.')[1]
    const hash = alg.replace('HS', 'sha')
    const signature = createHmac(hash, secret).update(`${header}.${payload}`).digest('base64url')
    return `${header}.${payload}.${signature}`
  }

  async function unsigned(alg: string): Promise<string> {
    const [, payload] = (await idp.jwt('zoe')).split('.')
    return `${jwtPart({ alg, kid: 'a-key' })}.${payload}.`
  }

  /** Brings its own key along, in every way there is. */
  async function withOwnKey(): Promise<string> {
    const mine = await newIdpKey('mine')
    const claims = { iss: idp.issuer, aud: AUDIENCE, sub: 'zoe', exp: now() + 60 }
    const jku = idp.server.jwksEndpoint
    return signJwt(mine, claims, { kid: 'a-key', jwk: mine.jwk, jku, x5u: jku, x5c: ['AA=='] })
  }

  const REFUSALS: readonly {
    readonly what: string
    readonly rule?: string
    readonly send: () => Promise<CallOptions>
    readonly fault: Fault
    readonly signers: readonly Challenged[]
    readonly reason: string
    readonly why?: RegExp
  }[] = [
    {
      what: 'no token',
      send: async () => ({}),
      fault: 'missing',
      signers: ALL,
      reason: 'jwt-missing',
    },
    {
      what: 'credentials of another scheme',
      send: async () => ({ headers: { authorization: 'Basic em9lOg==' } }),
      fault: 'missing',
      signers: ALL,
      reason: 'jwt-missing',
    },
    {
      what: 'an expired token',
      rule: 'R065',
      send: async () => bearer(await idp.expired('zoe')),
      fault: 'expired',
      signers: [idp],
      reason: 'jwt-expired',
    },
    {
      what: 'an empty token, which is never called missing',
      rule: 'R065',
      send: async () => ({ headers: { authorization: 'Bearer' } }),
      fault: 'invalid',
      signers: ALL,
      reason: 'signer-unknown',
    },
    ...['x', 'a.b.c', '..'].map((text) => ({
      what: `the text ${text}, which is never called missing`,
      rule: 'R065',
      send: async () => bearer(text),
      fault: 'invalid' as const,
      signers: ALL,
      reason: 'signer-unknown',
    })),
    {
      what: 'an issuer that nobody knows',
      send: async () => bearer(await idp.jwt('zoe', { iss: 'https://unknown.example' })),
      fault: 'invalid',
      signers: ALL,
      reason: 'signer-unknown',
    },
    {
      what: 'an issuer that differs by a slash',
      rule: 'R057',
      send: async () => bearer(await idp.jwt('zoe', { iss: `${idp.issuer}/` })),
      fault: 'invalid',
      signers: ALL,
      reason: 'signer-unknown',
    },
    {
      what: 'an issuer given as a list',
      rule: 'R057',
      send: async () => bearer(await idp.jwt('zoe', { iss: [idp.issuer] })),
      fault: 'invalid',
      signers: ALL,
      reason: 'signer-unknown',
    },
    {
      what: 'no issuer',
      rule: 'R104',
      send: async () => bearer(await idp.jwt('zoe', { iss: undefined })),
      fault: 'invalid',
      signers: ALL,
      reason: 'signer-unknown',
    },
    {
      what: 'a token of our own',
      send: async () => bearer(admin.token),
      fault: 'invalid',
      signers: ALL,
      reason: 'signer-unknown',
    },
    {
      what: 'a disabled signer',
      send: async () => bearer(await off.jwt('zoe')),
      fault: 'invalid',
      signers: ALL,
      reason: 'signer-disabled',
    },
    {
      what: 'four tokens, a good one first',
      rule: 'D-14',
      send: async () => bearers(await idp.jwt('zoe'), 'x', 'y', 'z'),
      fault: 'invalid',
      signers: ALL,
      reason: 'jwt-invalid',
    },
    {
      what: 'four tokens in one field',
      rule: 'D-14',
      send: async () => inOneField(...Array<string>(4).fill(await idp.jwt('zoe'))),
      fault: 'invalid',
      signers: ALL,
      reason: 'jwt-invalid',
    },
    ...(
      [
        ['a forged signature', 'R104', () => idp.forged('zoe'), /the signature is wrong/],
        ['no signature', 'R053', () => unsigned('none'), /algorithm is not allowed/],
        ['no signature, written otherwise', 'R053', () => unsigned('nOnE'), /not allowed/],
        ['an algorithm of the key, unsigned', 'R053', () => unsigned('ES256'), /./],
        // Attack: the public key is public; a verifier that takes it for a shared secret believes everybody.
        ['HS256 under the public key as PEM', 'R053', () => hmac(pem, 'HS256'), /not allowed/],
        [
          'HS512 under the public key as JWK',
          'R053',
          () => hmac(JSON.stringify(idp.key.jwk), 'HS512'),
          /not allowed/,
        ],
        ['another algorithm than that of the key', 'R053', () => wrongAlgorithm(idp), /no key/],
        // Attack: somebody signs with a key of his own and says in the header where to find it.
        ['a key that the token brings along', 'R054', withOwnKey, /the signature is wrong/],
        [
          'an extension that must be understood',
          'R054',
          () => critical(idp),
          /demands an extension/,
        ],
        ['an unknown kid', 'R105', () => idp.jwt('zoe', {}, { kid: 'b-key' }), /no key/],
        ['another audience', 'R057', () => idp.jwt('zoe', { aud: 'service' }), /the claim aud/],
        ['no audience', 'R057', () => idp.jwt('zoe', { aud: undefined }), /the claim aud/],
        ['an audience of another case', 'R057', () => idp.jwt('zoe', { aud: 'Latchkey' }), /aud/],
        ['no end', 'R056', () => idp.jwt('zoe', { exp: undefined }), /the claim exp/],
        ['an end that is text', 'R056', () => idp.jwt('zoe', { exp: '4102444800' }), /./],
        ['a time before it counts', 'R056', () => idp.jwt('zoe', { nbf: now() + 90 }), /nbf/],
        ['a time of issue to come', 'R056', () => idp.jwt('zoe', { iat: now() + 90 }), /iat/],
        ['no claim that names anybody', 'R104', () => idp.jwt('zoe', { sub: undefined }), /claim/],
        ['a claim that is a list', 'R104', () => idp.jwt('zoe', { sub: ['zoe'] }), /./],
        [
          'an empty claim',
          'R104',
          () => idp.jwt(''),
          /claim is missing or does not name an identity/,
        ],
        // R056: `expired` says that everything else was good.
        [
          'an end that has passed, and another audience',
          'R056',
          () => idp.jwt('zoe', { exp: now() - 600, iat: now() - 700, aud: 'x' }),
          /aud/,
        ],
      ] as const
    ).map(([what, rule, token, why]) => ({
      what,
      rule,
      send: async () => bearer(await token()),
      fault: 'invalid' as const,
      signers: [idp],
      reason: 'jwt-invalid',
      why,
    })),
  ]

  for (const { what, rule = 'D-12', send, fault, signers, reason, why } of REFUSALS) {
    await t.test(`${rule}: ${what}: ${fault}`, async () => {
      // D-207: the first ten for a minute and reason have an event each.
      service.clock.advance(minutes(1))
      for (const [path, door] of Object.entries(DOORS)) {
        const reply = await door(service, await send())
        assertChallenged(reply, primaryChallenge(fault, ...signers))
        assert.equal(reply.headers['zt-session'], undefined)
        assert.equal(reply.json().authQueries, undefined)
        const event = await failureOf(service, reply)
        assert.equal(event.reason, reason, path)
        assert.equal(event.identityId, null)
        assert.equal(event.details.method, 'ext-jwt')
        if (why !== undefined) assert.match(event.details.why, why)
      }
    })
  }

  await t.test('API 4.8: no event and no line of the log has any of these tokens', async () => {
    const token = await idp.jwt('zoe', { aud: 'x' })
    const reply = await jwtLogin(service, token)
    const all = JSON.stringify([service.log, await failureOf(service, reply)])
    for (const text of token.split('.')) assert.equal(all.includes(text), false)
  })

  await t.test(
    'R104: nothing else in a request takes the place of the Authorization field',
    async () => {
      const token = await idp.jwt('zoe')
      const { authRequestId } = await beginLogin(service)
      for (const options of [
        { headers: { 'x-authorization': `Bearer ${token}` } },
        { headers: { 'proxy-authorization': `Bearer ${token}` } },
        { headers: { cookie: `access_token=${token}` } },
        { json: { authRequestId, token, access_token: token, jwt: token } },
      ]) {
        const json = { authRequestId }
        const reply = await service.call('/oidc/login/ext-jwt', { json, ...options })
        assertChallenged(reply, primaryChallenge('missing', ...ALL))
      }
      const query = `authRequestID=${authRequestId}&access_token=${token}`
      const asked = await service.call(`/oidc/login/ext-jwt?${query}`, { method: 'POST' })
      assertChallenged(asked, primaryChallenge('missing', ...ALL))
    },
  )
})

/** The key of the IdP is for ES256; whoever holds it signs under another name. */
async function wrongAlgorithm(idp: KnownIdp): Promise<string> {
  const [, payload, signature] = (await idp.jwt('zoe')).split('.')
  return `${jwtPart({ alg: 'ES384', kid: 'a-key' })}.${payload}.${signature}`
}

async function critical(idp: KnownIdp): Promise<string> {
  const [, payload, signature] = (await idp.jwt('zoe')).split('.')
  const header = { alg: 'ES256', kid: 'a-key', crit: ['x'], x: true }
  return `${jwtPart(header)}.${payload}.${signature}`
}

test('valid tokens of identities that may not log in', async (t) => {
  const service = await startService(t, { config: WITHOUT_LIMIT })
  const admin = await administrate(service)
  const idp = await registerIdp(t, service, admin, { issuer: 'https://one.example' })
  const other = await registerIdp(t, service, admin, { issuer: 'https://other.example' })
  const only = (signers: readonly string[]) => ({
    primary: { extJwt: { allowed: true, allowedSigners: signers } },
  })
  const passwords = await admin.createPolicy({ primary: { updb: { allowed: true } } })
  const others = await admin.createPolicy(only([other.id]))
  const both = await admin.createPolicy(only([other.id, idp.id]))

  const create = (externalId: string, policy?: string) =>
    admin.createIdentity({ externalId, ...(policy === undefined ? {} : { policy }) })
  const disabled = await create('disabled')
  await admin.act('POST', `/identities/${disabled.id}/disable`, { durationMinutes: 0 })
  const forbidden = await create('forbidden', passwords)
  const unlisted = await create('unlisted', others)
  await create('listed', both)
  const removed = await create('removed')
  await admin.act('DELETE', `/identities/${removed.id}`)

  let first: Reply | undefined
  for (const [subject, reason, identityId] of [
    ['nobody', 'identity-unknown', null],
    ['Disabled', 'identity-unknown', null],
    ['removed', 'identity-unknown', null],
    ['disabled', 'identity-disabled', disabled.id],
    ['forbidden', 'method-not-allowed', forbidden.id],
    ['unlisted', 'signer-not-allowed', unlisted.id],
  ] as const) {
    await t.test(`D-12: the reason is ${reason} for ${subject}, and nobody is told`, async () => {
      for (const [path, door] of Object.entries(DOORS)) {
        const reply = await door(service, bearer(await idp.jwt(subject)))
        assert.equal(reply.status, 401, reply.text)
        assert.equal(reply.json().error.code, 'INVALID_AUTH')
        // D-37: no row of the table fits; another token of that signer would not help.
        assert.equal(reply.headers['www-authenticate'], MISSING)
        if (path.startsWith('/oidc')) first ??= reply
        if (path.startsWith('/oidc') && first !== undefined) {
          assert.deepEqual(comparable(reply), comparable(first), 'R077')
        }
        const event = await failureOf(service, reply)
        assert.equal(event.reason, reason)
        assert.equal(event.identityId, identityId)
      }
    })
  }

  await t.test('API 4.4: a policy that lists signers takes those, and no others', async () => {
    assert.equal((await jwtLogin(service, await idp.jwt('listed'))).status, 302)
    assert.equal((await jwtLogin(service, await other.jwt('listed'))).status, 302)
    assert.equal((await jwtLogin(service, await other.jwt('unlisted'))).status, 302)
  })

  await t.test('D-14: of two tokens the one that may log in counts', async () => {
    const tokens = [await idp.jwt('unlisted'), await other.jwt('unlisted')] as const
    assert.equal((await jwtLogin(service, ...tokens)).status, 302)
  })

  await t.test('a deleted signer logs no identity in', async () => {
    const gone = await registerIdp(t, service, admin, { issuer: 'https://gone.example' })
    await create('somebody')
    const token = await gone.jwt('somebody')
    assert.equal((await jwtLogin(service, token)).status, 302)
    await admin.act('DELETE', `/external-jwt-signers/${gone.id}`)
    const reply = await jwtLogin(service, token)
    assert.equal(reply.json().error.code, 'UNAUTHORIZED')
    assert.equal((await failureOf(service, reply)).reason, 'signer-unknown')
  })
})

test('D-387: a token counts until its end, and not longer', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example' })
  await admin.createIdentity({ externalId: 'zoe' })
  service.clock.hold()
  const token = await idp.jwt('zoe')
  const left = Number(decodeJwt(token).exp) * 1_000 - service.clock.now()
  service.clock.advance(milliseconds(left - 1))
  assert.equal((await jwtLogin(service, token)).status, 302)
  service.clock.advance(milliseconds(1))
  assertChallenged(await jwtLogin(service, token), primaryChallenge('expired', idp))
})
