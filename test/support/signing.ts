/**
 * What a thief could do who had the signing key: signs any claims under any header with the key that the service
 * signs with. The key is taken from the store and opened with the installation secret of the home.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import {
  type CompactJWSHeaderParameters,
  CompactSign,
  decodeJwt,
  importJWK,
  type JWK,
  type JWTPayload,
} from 'jose'
import { fromUtf8 } from '../../src/base/encoding.ts'
import { systemRandom } from '../../src/base/secrets/random.ts'
import { createVault, type Vault } from '../../src/base/secrets/vault.ts'
import type { TokenKind } from '../../src/domain/tokens/keys/signing-key.ts'
import type { Service } from './service.ts'

export interface Signer {
  /** A JWT as an access token has it, but for the changes; `undefined` takes a member away. */
  sign(claims: Changes, header?: Changes): Promise<string>
  /** The same with a payload that need not be JSON. */
  signText(payload: string, header?: Changes): Promise<string>
}

type Changes = Readonly<Record<string, unknown>>

/** Signs with the newest key of the service for tokens of this kind; claims that are not given are those of `like`. */
export async function thiefOf(
  service: Service,
  like: string,
  kind: TokenKind = 'access',
): Promise<Signer> {
  const store = await service.openStore()
  const key = (await store.signingKeys.list()).findLast(({ purpose }) => purpose === kind)
  assert.ok(key)
  const { kid, algorithm: alg } = key
  const opened = (await vaultOf(service)).open('signing-key', key.sealedPrivateJwk, kid)
  const privateJwk: JWK = JSON.parse(fromUtf8(opened ?? new Uint8Array()) ?? '')
  const claimsLike: JWTPayload = decodeJwt(like)

  async function signText(payload: string, header: Changes = {}): Promise<string> {
    const all = { alg, kid, typ: 'at+jwt', ...header }
    const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
    const privateKey = await importJWK(privateJwk, String(all.alg))
    return new CompactSign(new TextEncoder().encode(payload))
      .setProtectedHeader(kept as unknown as CompactJWSHeaderParameters)
      .sign(privateKey, crit(kept))
  }

  return {
    signText,
    sign: (claims, header) => signText(JSON.stringify({ ...claimsLike, ...claims }), header),
  }
}

export async function vaultOf({ config }: Pick<Service, 'config'>): Promise<Vault> {
  assert.equal(config.secret.kind, 'file')
  const text = await readFile(config.secret.path, 'utf8')
  return createVault(Buffer.from(text.trim(), 'base64url'), systemRandom)
}

/** jose refuses to write critical members that nobody understands; told that somebody does, it writes them. */
function crit(header: Changes): { crit?: Record<string, boolean> } {
  const names = header['crit']
  if (!Array.isArray(names)) return {}
  return { crit: Object.fromEntries(names.map((name) => [name, true])) }
}
