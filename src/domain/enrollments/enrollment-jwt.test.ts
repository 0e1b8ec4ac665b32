/** The JWT of an invitation: its claims, and an algorithm for each kind of key that a listener may have. API 3.2; D-126. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { rootCertificates } from 'node:tls'
import { decodeProtectedHeader, jwtVerify } from 'jose'
import type { CaId, IdentityId } from '../../base/ids.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { instant } from '../../base/time/instant.ts'
import { type EnrollmentInvitation, signEnrollmentJwt } from './enrollment-jwt.ts'

const ADDRESS = 'https://id.example.com:1280'
const EXPIRES_AT = instant(4_000_000_000_999)
const INVITATION: EnrollmentInvitation = {
  method: 'updb',
  identityId: 'identity-1' as IdentityId,
  token: new Secret('lke_token'),
  expiresAt: EXPIRES_AT,
}

interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const curve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve })
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength })

const KEYS: Record<string, [() => KeyPair, string | undefined]> = {
  'P-256': [() => curve('P-256'), 'ES256'],
  'P-384': [() => curve('P-384'), 'ES384'],
  'P-521': [() => curve('P-521'), 'ES512'],
  'RSA 2048': [() => rsa(2048), 'RS256'],
  Ed25519: [() => generateKeyPairSync('ed25519'), 'EdDSA'],
  'RSA 1024': [() => rsa(1024), undefined],
  secp256k1: [() => curve('secp256k1'), undefined],
  Ed448: [() => generateKeyPairSync('ed448'), undefined],
}

/** Which certificate it is does not matter here: it only names the key. */
const [certificatePem = ''] = rootCertificates

function signer(key: KeyPair) {
  const keyPem = new Secret(String(key.privateKey.export({ format: 'pem', type: 'pkcs8' })))
  const api = { address: ADDRESS, certificatePem, keyPem }
  return (invitation: EnrollmentInvitation) =>
    signEnrollmentJwt({ clientApi: () => api }, invitation)
}

for (const [name, [make, algorithm]] of Object.entries(KEYS)) {
  const outcome = algorithm === undefined ? 'nothing, for no JWT is signed so' : algorithm
  test(`a key of kind ${name} signs with ${outcome}`, async () => {
    const key = make()
    const jwt = await signer(key)(INVITATION)
    if (algorithm === undefined) return assert.equal(jwt, undefined)
    assert.ok(jwt)
    const { payload } = await jwtVerify(jwt.reveal(), key.publicKey, { algorithms: [algorithm] })
    assert.deepEqual(payload, {
      iss: ADDRESS,
      sub: 'identity-1',
      em: 'updb',
      jti: 'lke_token',
      exp: 4_000_000_000,
    })
    const { raw } = new X509Certificate(certificatePem)
    const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(raw))
    assert.deepEqual(decodeProtectedHeader(jwt.reveal()), {
      alg: algorithm,
      typ: 'JWT',
      'x5t#S256': Buffer.from(digest).toString('base64url'),
    })
    assert.equal(`${jwt}`, '[secret]')
  })
}

test('a JWT for the certificates of a CA names the CA, and neither a token nor an end', async () => {
  const key = curve('P-256')
  const jwt = await signer(key)({ method: 'ca', caId: 'ca-1' as CaId })
  assert.ok(jwt)
  const { payload } = await jwtVerify(jwt.reveal(), key.publicKey)
  assert.deepEqual(payload, { iss: ADDRESS, sub: 'ca-1', em: 'ca' })
})

test('where there is no client API there is no JWT', async () => {
  assert.equal(await signEnrollmentJwt({ clientApi: () => undefined }, INVITATION), undefined)
})
