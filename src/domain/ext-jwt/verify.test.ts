/** Which JWTs of others count: R104, R053, R054, R056, R057, R059. Signed by jose, as an IdP would. */
import assert from 'node:assert/strict'
import { createHmac, createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import { CompactSign } from 'jose'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import {
  externalSigner,
  type IdpKey,
  newIdpKey,
  signJwt,
} from '../../../test/support/idp/external-idp.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { epochSeconds } from '../../base/time/instant.ts'
import type { ExternalJwtSigner } from './signer.ts'
import { createSignerKeys } from './signer-keys.ts'
import { EXTERNAL_JWT_ALGORITHMS } from './verification-key.ts'
import { type ExternalJwtVerdict, verifyExternalJwt } from './verify.ts'

const NOW = epochSeconds(NOON)
const SIGNER = externalSigner()
const KEY = await newIdpKey('key-1')
const MARK = 'token-of-somebody'
const CLAIMS = {
  iss: SIGNER.issuer,
  aud: SIGNER.audience,
  sub: 'alice',
  iat: NOW,
  nbf: NOW,
  exp: NOW + 300,
  mark: MARK,
}

/** The verdict on a token when the signer publishes these keys. */
async function judge(
  token: string,
  { signer = SIGNER, keys = [KEY] }: { signer?: ExternalJwtSigner; keys?: readonly IdpKey[] } = {},
): Promise<ExternalJwtVerdict> {
  const clock = new ManualClock()
  const fetchJson = async () => ({ keys: keys.map(({ jwk }) => jwk) })
  const signerKeys = createSignerKeys({ fetchJson, clock })
  const verdict = await verifyExternalJwt({ clock, signerKeys }, signer, new Secret(token))
  assert.equal(
    JSON.stringify(verdict).includes(MARK),
    false,
    'a verdict shows nothing of the token',
  )
  return verdict
}

const signed = (change: object = {}, header = {}) => signJwt(KEY, { ...CLAIMS, ...change }, header)
const part = (text: string) => Buffer.from(text).toString('base64url')
const invalid = (why: string) => ({ verdict: 'invalid', why })
const ACCEPTED = { verdict: 'accepted', subject: 'alice', authenticatedAt: CLAIMS.iat }
const EXPIRED = { verdict: 'expired', why: 'the token has expired' }
const UNREADABLE = 'the token is not a readable JWT'
const NO_KEY = 'no key of the signer matches the token'
const NO_CLAIM = "the signer's claim is missing or does not name an identity"

/** Signed by the right key, whatever the text of the claims is. */
function signedText(claims: string, header: object = {}): Promise<string> {
  return new CompactSign(Buffer.from(claims))
    .setProtectedHeader({ alg: KEY.alg, kid: 'key-1', ...header })
    .sign(KEY.privateKey)
}

for (const alg of EXTERNAL_JWT_ALGORITHMS) {
  test(`a token signed with ${alg} is accepted`, async () => {
    const key = await newIdpKey('k', alg)
    assert.deepEqual(await judge(await signJwt(key, CLAIMS), { keys: [key] }), ACCEPTED)
  })
}

test('the subject is the claim that the signer names', async () => {
  const token = await signed({ email: 'alice@example.com', realm: { ids: ['a-1', 'a-2'] } })
  for (const [claimsProperty, subject] of [
    ['sub', 'alice'],
    ['email', 'alice@example.com'],
    ['/realm/ids/1', 'a-2'],
  ] as const) {
    const signer = externalSigner({ claimsProperty })
    assert.deepEqual(await judge(token, { signer }), { ...ACCEPTED, subject })
  }
})

const GOOD: readonly [what: string, change: object][] = [
  ['an audience among others', { aud: ['other', 'latchkey'] }],
  ['no iat and no nbf', { iat: undefined, nbf: undefined }],
  ['times with fractions', { iat: NOW - 0.5, exp: NOW + 0.5 }],
  ['a beginning in 60 seconds', { nbf: NOW + 60 }],
  ['an issue in 60 seconds', { iat: NOW + 60 }],
]

for (const [what, change] of GOOD) {
  test(`R056: a token with ${what} is accepted`, async () => {
    const { iat } = { ...CLAIMS, ...change }
    assert.deepEqual(await judge(await signed(change)), { ...ACCEPTED, authenticatedAt: iat })
  })
}

test('D-241: the time of authentication is auth_time, or else iat, if those are times', async () => {
  for (const [change, authenticatedAt] of [
    [{ auth_time: NOW - 500 }, NOW - 500],
    [{ auth_time: NOW - 500, iat: undefined }, NOW - 500],
    [{ iat: NOW - 20 }, NOW - 20],
    [{ iat: undefined }, undefined],
    [{ auth_time: 'now' }, undefined],
    [{ auth_time: null }, undefined],
  ] as const) {
    assert.deepEqual(await judge(await signed(change)), { ...ACCEPTED, authenticatedAt })
  }
})

test('D-387: a token whose end has passed is expired, without leeway', async () => {
  assert.equal((await judge(await signed({ exp: NOW + 1 }))).verdict, 'accepted')
  assert.equal((await judge(await signed({ exp: NOW }))).verdict, 'expired')
  assert.equal((await judge(await signed({ exp: NOW - 1 }))).verdict, 'expired')
  // D-325: by how much, for the event.
  const clock = (aheadSeconds: number) => ({ clock: { of: 'exp', aheadSeconds } })
  assert.deepEqual(await judge(await signed({ exp: NOW - 60 })), { ...EXPIRED, ...clock(-60) })
  assert.deepEqual(await judge(await signed({ exp: 0 })), { ...EXPIRED, ...clock(-NOW) })
})

test('R056: a token whose issue or beginning is beyond the leeway is invalid, even if it has expired', async () => {
  for (const claim of ['iat', 'nbf']) {
    const { verdict } = await judge(await signed({ [claim]: NOW + 61 }))
    assert.equal(verdict, 'invalid', claim)
    const both = await signed({ [claim]: NOW + 61, exp: NOW - 3_600 })
    assert.deepEqual(await judge(both), invalid(`the claim ${claim} is refused`))
  }
})

test('D-325: a token that only comes too early says by how much, and one with another fault does not', async () => {
  for (const claim of ['iat', 'nbf'] as const) {
    const early = { [claim]: NOW + 95 }
    const why = invalid(`the claim ${claim} is refused`)
    const clock = { of: claim, aheadSeconds: 95 }
    assert.deepEqual(await judge(await signed(early)), { ...why, clock })
    assert.deepEqual(await judge(await signed({ ...early, sub: undefined })), why)
    const { clock: none } = {
      clock: undefined,
      ...(await judge(await signed({ ...early, aud: 'x' }))),
    }
    assert.equal(none, undefined)
  }
  const thief = await newIdpKey('key-1')
  const forged = await judge(await signJwt(thief, { ...CLAIMS, iat: NOW + 95 }))
  assert.deepEqual(forged, invalid('the signature is wrong'))
})

const REFUSED: readonly [what: string, change: object, why: string][] = [
  ['no end', { exp: undefined }, 'the claim exp is refused'],
  ['an end that is a text', { exp: String(NOW + 300) }, 'the claim exp is refused'],
  ['an end that is null', { exp: null }, 'the claim exp is refused'],
  ['a beginning that is a text', { nbf: 'now' }, 'the claim nbf is refused'],
  ['an issue that is a text', { iat: 'now' }, 'the claim iat is refused'],
  ['no issuer', { iss: undefined }, 'the issuer is not the one of the signer'],
  ['the issuer in a list', { iss: [SIGNER.issuer] }, 'the issuer is not the one of the signer'],
  ['a shorter issuer', { iss: 'https://idp.example' }, 'the issuer is not the one of the signer'],
  [
    'the issuer in capitals',
    { iss: 'HTTPS://IDP.EXAMPLE/' },
    'the issuer is not the one of the signer',
  ],
  ['no audience', { aud: undefined }, 'the claim aud is refused'],
  ['another audience', { aud: 'latchkey2' }, 'the claim aud is refused'],
  ['other audiences', { aud: ['latch', 'key'] }, 'the claim aud is refused'],
  ['the audience in a list in a list', { aud: [['latchkey']] }, 'the claim aud is refused'],
  ['an audience that is an object', { aud: { latchkey: true } }, 'the claim aud is refused'],
  ['no subject', { sub: undefined }, NO_CLAIM],
  ['a subject that is a number', { sub: 7 }, NO_CLAIM],
  ['a subject that is a list', { sub: ['alice'] }, NO_CLAIM],
  ['an empty subject', { sub: '' }, NO_CLAIM],
  ['a subject of 257 characters', { sub: 'x'.repeat(257) }, NO_CLAIM],
]

for (const [what, change, why] of REFUSED) {
  test(`R056, R057, R059: a token with ${what} is invalid`, async () => {
    assert.deepEqual(await judge(await signed(change)), invalid(why))
  })
  test(`R056: a token with ${what} is not called expired, even if it is`, async () => {
    const token = await signed({ exp: NOW - 3_600, ...change })
    assert.deepEqual(await judge(token), invalid(why))
  })
}

test('R056: an end beyond all numbers is invalid', async () => {
  const text = JSON.stringify(CLAIMS).replace(/"exp":\d+/, '"exp":1e999')
  assert.deepEqual(await judge(await signedText(text)), invalid('the claim exp is refused'))
})

test('R057: an empty audience at the signer opens nothing', async () => {
  const signer = externalSigner({ audience: '' })
  assert.deepEqual(await judge(await signed(), { signer }), invalid('the claim aud is refused'))
})

test('R104: a signature by another key is wrong, also on a token that has expired', async () => {
  const thief = await newIdpKey('key-1')
  const token = await signJwt(thief, CLAIMS)
  const old = await signJwt(thief, { ...CLAIMS, exp: NOW - 3_600 })
  assert.deepEqual(await judge(token), invalid('the signature is wrong'))
  assert.deepEqual(await judge(old), invalid('the signature is wrong'))
})

test('R104: changed claims, a changed header and no signature are invalid', async () => {
  const [header, , signature] = (await signed()).split('.')
  const claims = part(JSON.stringify({ ...CLAIMS, sub: 'root' }))
  for (const token of [
    `${header}.${claims}.${signature}`,
    `${part('{"alg":"ES256","kid":"key-1"}')}.${part(JSON.stringify(CLAIMS))}.${signature}`,
    `${header}.${part(JSON.stringify(CLAIMS))}.`,
  ]) {
    assert.deepEqual(await judge(token), invalid('the signature is wrong'))
  }
})

test('R053: unsigned tokens are refused, however none is written', async () => {
  for (const alg of ['none', 'None', 'NONE', '']) {
    const token = `${part(JSON.stringify({ alg, kid: 'key-1' }))}.${part(JSON.stringify(CLAIMS))}.`
    assert.deepEqual(await judge(token), invalid('the algorithm is not allowed'))
  }
})

test('R053: a token signed with the public key as a shared secret is refused', async () => {
  const pem = createPublicKey({ key: { ...KEY.jwk }, format: 'jwk' })
  for (const secret of [pem.export({ format: 'pem', type: 'spki' }), JSON.stringify(KEY.jwk)]) {
    const text = `${part('{"alg":"HS256","kid":"key-1"}')}.${part(JSON.stringify(CLAIMS))}`
    const signature = createHmac('sha256', secret).update(text).digest('base64url')
    const refusal = invalid('the algorithm is not allowed')
    assert.deepEqual(await judge(`${text}.${signature}`), refusal)
  }
})

test('R053: an algorithm other than that of the key is refused', async () => {
  const other = await newIdpKey('key-1', 'ES384')
  assert.deepEqual(await judge(await signJwt(other, CLAIMS)), invalid(NO_KEY))
  const rsa = await newIdpKey('rsa', 'RS256')
  const token = (await signJwt(rsa, CLAIMS)).split('.')
  token[0] = part('{"alg":"PS256","kid":"rsa"}')
  // The set says RS256 for this key, so nothing else will do.
  assert.deepEqual(await judge(token.join('.'), { keys: [rsa] }), invalid(NO_KEY))
})

for (const [what, header] of [
  ['an algorithm that is a list', { alg: ['ES256'] }],
  ['an algorithm that is not an algorithm', { alg: 'toString' }],
  ['no algorithm', {}],
] as const) {
  test(`R053: ${what} is refused`, async () => {
    const token = `${part(JSON.stringify(header))}.${part(JSON.stringify(CLAIMS))}.c2ln`
    assert.deepEqual(await judge(token), invalid('the algorithm is not allowed'))
  })
}

test('R054: a key that the token brings along is never used', async () => {
  // Attack: the token carries the key that it was signed with, or says where to get it.
  const thief = await newIdpKey('key-1')
  const brought = {
    jwk: thief.jwk,
    jku: 'https://thief.example/jwks',
    x5u: 'https://thief.example/chain.pem',
    x5c: ['MIIB'],
  }
  assert.deepEqual(
    await judge(await signJwt(thief, CLAIMS, brought)),
    invalid('the signature is wrong'),
  )
  assert.deepEqual(await judge(await signed({}, brought)), ACCEPTED)
})

test('R054: a token that demands an extension is refused', async () => {
  for (const crit of [['exp'], ['b64'], ['urn:x'], [], 'exp', null]) {
    const text = JSON.stringify({ alg: 'ES256', kid: 'key-1', b64: true, crit })
    const token = `${part(text)}.${part(JSON.stringify(CLAIMS))}.c2ln`
    assert.deepEqual(await judge(token), invalid('the header demands an extension (crit)'))
  }
})

test('a kid that is not text, or that no key has, is refused', async () => {
  for (const kid of [7, null, ['key-1'], { key: 1 }]) {
    const token = `${part(JSON.stringify({ alg: 'ES256', kid }))}.${part(JSON.stringify(CLAIMS))}.c2ln`
    assert.deepEqual(await judge(token), invalid('the kid is not text'))
  }
  assert.deepEqual(await judge(await signed({}, { kid: MARK })), invalid(NO_KEY))
})

test('a token without a kid is accepted when one key of the signer fits', async () => {
  const token = await signed({}, { kid: undefined })
  assert.deepEqual(await judge(token), ACCEPTED)
  const keys = [KEY, await newIdpKey('key-2')]
  assert.deepEqual(
    await judge(token, { keys }),
    invalid('several keys of the signer match the token'),
  )
})

test('R059: a claim or a header member named twice is refused, though the signature is good', async () => {
  const claims = JSON.stringify(CLAIMS)
  for (const twice of ['"sub":"root"', '"iss":"https://idp.example/"', '"\\u0073ub":"root"']) {
    const token = await signedText(`{${twice},${claims.slice(1)}`)
    assert.deepEqual(await judge(token), invalid(UNREADABLE), twice)
  }
  const header = part('{"alg":"none","alg":"ES256"}')
  assert.deepEqual(await judge(`${header}.${part(claims)}.c2ln`), invalid(UNREADABLE))
})

const NO_JWT: readonly [string, string][] = [
  ['nothing', ''],
  ['an opaque token', MARK],
  ['dots alone', '..'],
  ['two parts', `${part('{"alg":"ES256"}')}.${part('{}')}`],
  ['an encrypted JWT', `${part('{"alg":"dir","enc":"A128GCM"}')}.a.b.c.d`],
  ['claims that are a list', `${part('{"alg":"ES256"}')}.${part('[]')}.c2ln`],
  ['nesting without end', `${part('{"alg":"ES256"}')}.${part('['.repeat(6_000))}.c2ln`],
  ['a byte that is not UTF-8', `${part('{"alg":"ES256"}')}._w.c2ln`],
]

for (const [what, token] of NO_JWT) {
  test(`R059: ${what} is not a JWT`, async () => {
    assert.deepEqual(await judge(token), invalid(UNREADABLE))
  })
}

test('R059: a token of 16 KiB is read, and a longer one is refused unread', async () => {
  const fill = async (size: number) => {
    const bare = await signed({ fill: '' })
    const token = await signed({ fill: 'x'.repeat(Math.floor(((size - bare.length) * 3) / 4)) })
    return token
  }
  const long = await fill(16 * 1024 - 8)
  assert.ok(long.length > 16_300 && long.length <= 16_384)
  assert.deepEqual(await judge(long), ACCEPTED)
  assert.deepEqual(await judge(await fill(16 * 1024 + 8)), invalid('the token is too long'))
  assert.deepEqual(await judge('x'.repeat(100_000)), invalid('the token is too long'))
})

test('nothing is fetched for a token that cannot be good', async () => {
  const clock = new ManualClock()
  const fetchJson = () => assert.fail('something is fetched')
  const ports = { clock, signerKeys: createSignerKeys({ fetchJson, clock }) }
  for (const token of [
    await signed({ iss: 'https://other.example/' }),
    `${part('{"alg":"HS256"}')}.${part(JSON.stringify(CLAIMS))}.c2ln`,
    MARK,
  ]) {
    assert.equal((await verifyExternalJwt(ports, SIGNER, new Secret(token))).verdict, 'invalid')
  }
})

test('R107: a signer that cannot be asked makes tokens invalid, and the log learns why', async () => {
  const clock = new ManualClock()
  const fetchJson = () => Promise.reject(new Error('the answer has the status 503'))
  const ports = { clock, signerKeys: createSignerKeys({ fetchJson, clock }) }
  assert.deepEqual(
    await verifyExternalJwt(ports, SIGNER, new Secret(await signed())),
    invalid(`${NO_KEY}; the latest fetch failed: the answer has the status 503`),
  )
})
