/**
 * Somebody else who signs JWTs: a real HTTP server on this machine that publishes a JWK set, with keys that come
 * and go, outages, and tokens of every kind.
 */
import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import type { ExternalJwtSignerId } from '../../../src/base/ids.ts'
import { instant } from '../../../src/base/time/instant.ts'
import type { ExternalJwtSigner } from '../../../src/domain/ext-jwt/signer.ts'
import { listenUntilEnd } from '../ports.ts'

export interface IdpKey {
  readonly alg: string
  readonly privateKey: CryptoKey
  /** As a JWK set shows it, with kid, alg and use. */
  readonly jwk: JWK
}

export async function newIdpKey(kid: string, alg = 'ES256'): Promise<IdpKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return { alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** Header members replace the usual ones; undefined takes one away. */
export function signJwt(
  { alg, privateKey, jwk }: IdpKey,
  claims: object,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const usual = { alg, kid: jwk.kid, typ: 'JWT', ...header }
  const given = Object.fromEntries(Object.entries(usual).filter(([, value]) => value !== undefined))
  return new SignJWT({ ...claims }).setProtectedHeader({ alg, ...given }).sign(privateKey)
}

/** A signer for the tests, as an administrator would have made it. */
export function externalSigner(change: Partial<ExternalJwtSigner> = {}): ExternalJwtSigner {
  return {
    id: 'signer-1' as ExternalJwtSignerId,
    name: 'Example IdP',
    enabled: true,
    issuer: 'https://idp.example/',
    audience: 'latchkey',
    keys: { kind: 'jwks', jwksEndpoint: 'https://idp.example/jwks' },
    claimsProperty: '/sub',
    useExternalId: true,
    externalAuthUrl: undefined,
    clientId: undefined,
    scopes: [],
    targetToken: 'ACCESS',
    tags: {},
    createdAt: instant(0),
    updatedAt: instant(0),
    ...change,
  }
}

export class ExternalIdp {
  readonly jwksEndpoint: string
  /** What the JWK set shows; a test may change it. */
  keys: JWK[]
  isDown = false
  /** How often the set was asked for, also while it was down. */
  fetches = 0

  private constructor(jwksEndpoint: string, keys: JWK[]) {
    this.jwksEndpoint = jwksEndpoint
    this.keys = keys
  }

  /** It ends with the test. */
  static async start(t: TestContext, ...keys: readonly IdpKey[]): Promise<ExternalIdp> {
    const server = createServer((_request, response) => {
      idp.fetches += 1
      response.writeHead(idp.isDown ? 503 : 200, { 'content-type': 'application/jwk-set+json' })
      response.end(JSON.stringify({ keys: idp.keys }))
    })
    const port = await listenUntilEnd(t, server)
    const idp = new ExternalIdp(
      `http://127.0.0.1:${port}/jwks`,
      keys.map(({ jwk }) => jwk),
    )
    return idp
  }
}
