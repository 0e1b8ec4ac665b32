/** An External JWT Signer: an external issuer whose tokens we accept. API 4.5. */
import { isLoopbackHost, withoutBrackets } from '../../base/host-port.ts'
import { EXTERNAL_JWT_SIGNER } from '../../entities/external-jwt-signer.ts'
import type { EntityOf } from '../../entities/field.ts'

export const TARGET_TOKENS = EXTERNAL_JWT_SIGNER.targetToken.choices

export interface ExternalJwtSigner extends EntityOf<typeof EXTERNAL_JWT_SIGNER> {
  readonly keys: SignerKeys
}

export type SignerKeys =
  | { readonly kind: 'jwks'; readonly jwksEndpoint: string }
  /** One certificate. Its key verifies tokens whose header has this `kid`, or has none if it is undefined. */
  | { readonly kind: 'certificate'; readonly certPem: string; readonly kid: string | undefined }

/** API 4.5: https, and http only to this machine or where the configuration allows it. Returns what is wrong otherwise. */
export function readSignerUrl(text: string, allowHttp: boolean): URL | string {
  const url = URL.parse(text)
  if (url === null) return 'must be a URL'
  if (url.username !== '' || url.password !== '') return 'must not carry credentials'
  const isPlain =
    url.protocol === 'http:' && (allowHttp || isLoopbackHost(withoutBrackets(url.hostname)))
  return url.protocol === 'https:' || isPlain ? url : 'must be a URL with https'
}
