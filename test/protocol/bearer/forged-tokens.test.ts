/** Tokens that anybody can make, without our key, and that nobody should take. D-35, R053, R054, R058. */

import assert from 'node:assert/strict'
import { createHmac, createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import { decodeJwt, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { jwtPart } from '../../support/jwt-part.ts'
import { answerTo, assertInvalid, INVALID, MISSING } from '../../support/login/challenges.ts'
import { logIn } from '../../support/login/login.ts'
import { startService } from '../../support/service.ts'
import { thiefOf } from '../../support/signing.ts'

for (const algorithm of ['ES256', 'RS256', 'EdDSA'] as const) {
  test(`forgeries against a key for ${algorithm}`, async (t) => {
    const config = { edge: { oidc: { signingAlgorithm: algorithm } } }
    const service = await startService(t, { config })
    const { access_token: genuine } = await logIn(service)
    const [head = '', body = '', signature = ''] = genuine.split('.')
    const { keys } = (await service.call('/oidc/keys')).json() as { keys: JWK[] }
    const [published] = keys
    assert.ok(published)
    const kid = published.kid ?? ''
    const claims = { ...decodeJwt(genuine), z_ia: true }

    await t.test('the genuine token is taken', async () => {
      assert.equal(await answerTo(service, genuine), 'taken')
    })

    await t.test('R053: a token without a signature is refused', async () => {
      const header = (alg: unknown) => jwtPart({ alg, typ: 'at+jwt', kid })
      await assertInvalid(service, {
        none: `${header('none')}.${body}.`,
        'none in capitals': `${header('NONE')}.${body}.`,
        'none with a signature': `${header('none')}.${body}.${signature}`,
        'no alg': `${jwtPart({ typ: 'at+jwt', kid })}.${body}.${signature}`,
        'an alg that is a list': `${header(['none', algorithm])}.${body}.${signature}`,
        'the signature left out': `${head}.${body}.`,
        'the last part left out': `${head}.${body}`,
      })
    })

    await t.test('R053: an HMAC with our public key as its secret is refused', async () => {
      // Attack: algorithm confusion. The verifier takes what everybody knows for a shared secret.
      const publicKey = createPublicKey({ key: { ...published }, format: 'jwk' })
      const secrets = {
        pem: publicKey.export({ type: 'spki', format: 'pem' }),
        der: publicKey.export({ type: 'spki', format: 'der' }),
        jwk: JSON.stringify(published),
        kid,
        nothing: '',
      }
      for (const [what, secret] of Object.entries(secrets)) {
        for (const [alg, hash] of Object.entries({ HS256: 'sha256', HS512: 'sha512' })) {
          const input = `${jwtPart({ alg, typ: 'at+jwt', kid })}.${jwtPart(claims)}`
          const mac = createHmac(hash, secret).update(input).digest('base64url')
          await assertInvalid(service, { [`${alg} with ${what}`]: `${input}.${mac}` })
        }
      }
    })

    await t.test(
      'R053: a foreign key under our kid is refused, of whatever algorithm and curve',
      async () => {
        const tokens: Record<string, string> = {}
        for (const alg of [
          'ES256',
          'ES384',
          'ES512',
          'RS256',
          'RS512',
          'PS256',
          'EdDSA',
        ] as const) {
          const { privateKey } = await generateKeyPair(alg, { extractable: true })
          const header = { alg, typ: 'at+jwt', kid }
          tokens[alg] = await new SignJWT(claims).setProtectedHeader(header).sign(privateKey)
        }
        await assertInvalid(service, tokens)
      },
    )

    await t.test(
      'R054: keys and certificates that a token brings along are never used',
      async () => {
        // Attack: the token carries the key that verifies it, or the address of one.
        const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
        const jwk = await exportJWK(publicKey)
        const carried = {
          jwk,
          jku: 'https://attacker.example/keys',
          x5u: 'https://attacker.example/chain',
          x5c: ['MIIB'],
          x5t: 'AAAA',
        }
        const kids = { ours: { kid }, theirs: { kid: 'attacker' }, none: {} }
        const tokens: Record<string, string> = {}
        for (const [name, value] of Object.entries(carried)) {
          for (const [whose, named] of Object.entries(kids)) {
            const header = { alg: algorithm, typ: 'at+jwt', ...named, [name]: value }
            const token = new SignJWT(claims).setProtectedHeader(header)
            tokens[`${name}, kid ${whose}`] = await token.sign(privateKey)
          }
        }
        await assertInvalid(service, tokens)
      },
    )

    await t.test('a genuine token with anything changed is refused', async () => {
      const bytes = Buffer.from(signature, 'base64url')
      const flipped = (i: number) => {
        const copy = Buffer.from(bytes)
        copy.writeUInt8(copy.readUInt8(i) ^ 1, i)
        return copy.toString('base64url')
      }
      await assertInvalid(service, {
        'one bit of the first byte': `${head}.${body}.${flipped(0)}`,
        'one bit of a byte in the middle': `${head}.${body}.${flipped(bytes.length >> 1)}`,
        'one bit of the last byte': `${head}.${body}.${flipped(bytes.length - 1)}`,
        'the signature cut': `${head}.${body}.${bytes.subarray(1).toString('base64url')}`,
        'the signature extended': `${head}.${body}.${signature}AAAA`,
        'the signature of zeros': `${head}.${body}.${Buffer.alloc(bytes.length).toString('base64url')}`,
        'another claim': `${head}.${jwtPart({ ...claims, sub: 'somebody-else' })}.${signature}`,
        'the same claims in another order': `${head}.${jwtPart(Object.fromEntries(Object.entries(decodeJwt(genuine)).reverse()))}.${signature}`,
        'another kid': `${jwtPart({ alg: algorithm, typ: 'at+jwt', kid: 'x' })}.${body}.${signature}`,
        'no kid': `${jwtPart({ alg: algorithm, typ: 'at+jwt' })}.${body}.${signature}`,
        'a fourth part': `${genuine}.${signature}`,
        padding: `${genuine}=`,
      })
    })
  })
}

test('R058: a token of another installation is refused by this one', async (t) => {
  const [here, there] = [await startService(t), await startService(t)]
  const { access_token } = await logIn(there)
  assert.equal(await answerTo(here, access_token), MISSING)
  // The same claims with our issuer, under their key.
  const thief = await thiefOf(there, access_token)
  assert.equal(await answerTo(here, await thief.sign({ iss: `${here.baseUrl}/oidc` })), INVALID)
})
