/**
 * The fields of a signer, as the discovery document of its provider gives them. API 3.3, D-366. Nothing is stored: an
 * administrator looks at the proposal, and creates a signer from it. The document is fetched like the keys of signers,
 * with the same limits and the same rules about addresses (R106).
 */
import { isJsonObject, type JsonObject } from '../../../base/json.ts'
import { isLine } from '../../../base/text.ts'
import { below } from '../../ext-jwt/idp/endpoints.ts'
import type { ExternalJwtSigner } from '../../ext-jwt/signer.ts'
import { invalid } from '../../refusals.ts'
import { requireUrl } from '../manage-signers.ts'
import type { ManagementPorts } from '../ports.ts'

type Proposed =
  | 'issuer'
  | 'externalAuthUrl'
  | 'clientId'
  | 'scopes'
  | 'targetToken'
  | 'claimsProperty'

export interface SignerProposal extends Pick<ExternalJwtSigner, Proposed> {
  readonly audience: string | undefined
  readonly jwksEndpoint: string
  /** The claims that the provider says it has, for the choice of another `claimsProperty`. */
  readonly claims: readonly string[]
}

export interface Discovery {
  /** The issuer, or the address of its discovery document. */
  readonly url: string
  /** With one, users are sent there to sign in, and the ID tokens for this client are accepted. */
  readonly clientId: string | undefined
  /** Default: the client id, which is the audience of ID tokens (OIDC Core §2). */
  readonly audience: string | undefined
}

const FIELD = 'url'
const LONGEST_URL = 2048
const LONGEST_ISSUER = 512
const MOST_CLAIMS = 100

/** Throws COULD_NOT_VALIDATE, which says what is wrong with the address or with the document. */
export async function discoverSigner(
  { fetchJson, issuers, allowHttp }: Pick<ManagementPorts, 'fetchJson' | 'issuers' | 'allowHttp'>,
  { url, clientId, audience }: Discovery,
): Promise<SignerProposal> {
  requireUrl(FIELD, url, allowHttp)
  const address = below(url)
  if (address === undefined) throw invalid(FIELD, 'must be a URL')
  const document = await fetchDocument(fetchJson, address)
  const { issuer, jwks_uri: jwksEndpoint } = document
  if (!isText(issuer, LONGEST_ISSUER)) throw invalid(FIELD, 'has a document without an issuer')
  // OIDC Discovery §4.3: a document may speak only for the issuer that it is below.
  if (below(issuer) !== address) {
    throw invalid(FIELD, 'has a document of another issuer, which must have its own address')
  }
  if (issuers().some((own) => own === issuer)) {
    throw invalid(FIELD, 'is an issuer of this service itself')
  }
  if (!isText(jwksEndpoint, LONGEST_URL)) throw invalid(FIELD, 'has a document without a jwks_uri')
  const hasLogin = clientId !== undefined && isText(document['authorization_endpoint'], LONGEST_URL)
  return {
    issuer,
    audience: audience ?? clientId,
    jwksEndpoint,
    externalAuthUrl: hasLogin ? issuer : undefined,
    clientId,
    scopes: hasLogin ? scopesOf(document['scopes_supported']) : [],
    targetToken: clientId === undefined ? 'ACCESS' : 'ID',
    // The one claim that never changes and is never given to another user (OIDC Core §5.7).
    claimsProperty: '/sub',
    claims: textsOf(document['claims_supported']),
  }
}

async function fetchDocument(
  fetchJson: ManagementPorts['fetchJson'],
  address: string,
): Promise<JsonObject> {
  let value: unknown
  try {
    value = await fetchJson(address)
  } catch (error) {
    const why = error instanceof Error ? error.message : 'the fetch failed'
    throw invalid(FIELD, `has no discovery document: ${why}`)
  }
  return isJsonObject(value) ? value : {}
}

function scopesOf(supported: unknown): readonly string[] {
  const known = textsOf(supported)
  return ['openid', ...['profile', 'email'].filter((scope) => known.includes(scope))]
}

function isText(value: unknown, longest: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longest && isLine(value)
}

function textsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, MOST_CLAIMS).filter((one): one is string => isText(one, 256))
}
