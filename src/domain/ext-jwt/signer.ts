/** An External JWT Signer: an external issuer whose tokens we accept. API 4.5. */
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
