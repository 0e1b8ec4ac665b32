/**
 * An External JWT Signer: somebody else whose tokens count here. API 4.5.
 */
import type { ExternalJwtSignerId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { Tags } from '../identities/identity.ts'

export const TARGET_TOKENS = ['ACCESS', 'ID'] as const
export type TargetToken = (typeof TARGET_TOKENS)[number]

export interface ExternalJwtSigner {
  readonly id: ExternalJwtSignerId
  readonly name: string
  readonly enabled: boolean
  /** Unique, and compared exactly. */
  readonly issuer: string
  readonly audience: string
  readonly keys: SignerKeys
  /** The name of a claim, or a JSON pointer (RFC 6901) into the claims. */
  readonly claimsProperty: string
  /** The claim holds an external id; otherwise the id of the identity. */
  readonly useExternalId: boolean
  readonly externalAuthUrl: string | undefined
  readonly clientId: string | undefined
  readonly scopes: readonly string[]
  readonly targetToken: TargetToken
  readonly tags: Tags
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

export type SignerKeys =
  | { readonly kind: 'jwks'; readonly jwksEndpoint: string }
  /** One certificate; its key verifies tokens whose header names `kid`, or none when it is undefined. */
  | { readonly kind: 'certificate'; readonly certPem: string; readonly kid: string | undefined }
