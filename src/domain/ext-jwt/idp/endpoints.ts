/**
 * Where users log in at the IdP of a signer, and where we redeem the code that they bring back. D-47, D-154.
 *
 * `externalAuthUrl` is either the issuer URL of the IdP, with its discovery document below it, or the authorization
 * endpoint; in that case the document is below the signer's `issuer`. Either way the document must be that of the
 * signer's issuer.
 */

import type { ExternalJwtSignerId } from '../../../base/ids.ts'
import { isJsonObject, type JsonObject } from '../../../base/json.ts'
import type { Clock } from '../../../base/time/clock.ts'
import {
  type Duration,
  hours,
  milliseconds,
  minutes,
  seconds,
} from '../../../base/time/duration.ts'
import { type ExternalJwtSigner, readSignerUrl } from '../signer.ts'
import type { FetchJson } from '../signer-keys.ts'

/** A signer that users can be sent to. */
export interface OfferedSigner extends ExternalJwtSigner {
  readonly externalAuthUrl: string
  readonly clientId: string
}

/** Returns undefined if users cannot be sent there: it is disabled, or lacks what a login needs. */
export function offered(signer: ExternalJwtSigner | undefined): OfferedSigner | undefined {
  if (signer?.enabled !== true) return undefined
  const { externalAuthUrl, clientId } = signer
  if (externalAuthUrl === undefined || clientId === undefined) return undefined
  return { ...signer, externalAuthUrl, clientId }
}

export interface IdpEndpoints {
  /** Includes the parameters of the `externalAuthUrl`, if it has any. */
  readonly authorization: URL
  readonly token: string
  /** RFC 9207: every answer of the IdP names its issuer. */
  readonly alwaysNamesIssuer: boolean
}

/** `why` may be shown to an administrator. */
export type FoundEndpoints = { readonly endpoints: IdpEndpoints } | { readonly why: string }

export type FindEndpoints = (signer: OfferedSigner) => Promise<FoundEndpoints>

/** A document older than this is fetched again before it is used. */
const REFRESH_AGE = minutes(10)
/** How long the last good one is used if the IdP does not answer, and how often to retry meanwhile. */
const OUTAGE_LIMIT = hours(24)
const OUTAGE_INTERVAL = seconds(30)
/** How often to retry an IdP that has never answered. Anonymous callers can trigger these fetches. */
const FLOOR = seconds(1)

const WELL_KNOWN = '/.well-known/openid-configuration'

interface Known {
  readonly externalAuthUrl: string
  readonly issuer: string
  good?: IdpEndpoints
  why: string
  /** In the monotonic time of `uptime`. */
  goodAt?: Duration
  askedAt?: Duration
  asking?: Promise<void> | undefined
}

export function createFindEndpoints(deps: {
  readonly fetchJson: FetchJson
  readonly clock: Pick<Clock, 'uptime'>
  /** Allows plain http to other machines. */
  readonly allowHttp: boolean
}): FindEndpoints {
  const { fetchJson, clock, allowHttp } = deps
  // One entry for each signer seen since the start.
  const known = new Map<ExternalJwtSignerId, Known>()

  const since = (at: Duration | undefined): Duration =>
    milliseconds(at === undefined ? Number.POSITIVE_INFINITY : clock.uptime() - at)

  function entryOf({ id, externalAuthUrl, issuer }: OfferedSigner): Known {
    const entry = known.get(id)
    if (entry?.externalAuthUrl === externalAuthUrl && entry.issuer === issuer) return entry
    const fresh: Known = { externalAuthUrl, issuer, why: '' }
    known.set(id, fresh)
    return fresh
  }

  async function ask(entry: Known): Promise<void> {
    const { externalAuthUrl, issuer } = entry
    // Fetch both at once, so that the second does not wait for the first to fail.
    const [given, own] = await Promise.all([
      discover(externalAuthUrl, issuer),
      below(issuer) === below(externalAuthUrl) ? undefined : discover(issuer, issuer),
    ])
    entry.askedAt = clock.uptime()
    const found = given.document ?? own?.document
    if (found === undefined) {
      entry.why = given.why ?? ''
      return
    }
    const endpoint = given.document === undefined ? externalAuthUrl : found.authorization
    const authorization = readEndpoint(endpoint, allowHttp)
    if (authorization === undefined) {
      entry.why = 'the authorization endpoint is not a URL with https'
      return
    }
    for (const [name, value] of new URL(externalAuthUrl).searchParams) {
      authorization.searchParams.set(name, value)
    }
    entry.good = { ...found, authorization }
    entry.goodAt = clock.uptime()
  }

  async function discover(base: string, issuer: string): Promise<Discovered> {
    const url = below(base)
    if (url === undefined) return { why: 'the issuer of the signer is not a URL' }
    try {
      return readDocument(await fetchJson(url), issuer)
    } catch (error) {
      return { why: error instanceof Error ? error.message : 'the fetch failed' }
    }
  }

  return async (signer) => {
    const entry = entryOf(signer)
    const isFresh = since(entry.goodAt) < REFRESH_AGE
    const interval = entry.good === undefined ? FLOOR : OUTAGE_INTERVAL
    if (!isFresh && (entry.asking !== undefined || since(entry.askedAt) >= interval)) {
      entry.asking ??= ask(entry).finally(() => {
        entry.asking = undefined
      })
      await entry.asking
    }
    const { good, goodAt, why } = entry
    return good !== undefined && since(goodAt) < OUTAGE_LIMIT ? { endpoints: good } : { why }
  }
}

interface Document extends Omit<IdpEndpoints, 'authorization'> {
  readonly authorization: string
}

type Discovered =
  | { readonly document: Document; readonly why?: undefined }
  | { readonly document?: undefined; readonly why: string }

/** OIDC Discovery §4.1: the document is below the issuer, with or without a trailing slash. */
export function below(base: string): string | undefined {
  const url = URL.parse(base)
  if (url === null) return undefined
  const path = url.pathname.replace(/\/$/, '')
  return `${url.origin}${path.endsWith(WELL_KNOWN) ? path : `${path}${WELL_KNOWN}`}`
}

/** OIDC Discovery §4.3: a document of another issuer would send users, and their codes, to an attacker. */
function readDocument(value: unknown, issuer: string): Discovered {
  const document: JsonObject = isJsonObject(value) ? value : {}
  const { authorization_endpoint: authorization, token_endpoint: token } = document
  if (document['issuer'] !== issuer) {
    return { why: 'the issuer of the discovery document is not that of the signer' }
  }
  if (typeof authorization !== 'string' || typeof token !== 'string') {
    return { why: 'the discovery document lacks the authorization endpoint or the token endpoint' }
  }
  const alwaysNamesIssuer = document['authorization_response_iss_parameter_supported'] === true
  return { document: { authorization, token, alwaysNamesIssuer } }
}

/**
 * Users are sent there, so it must satisfy the rules of a signer's URL (API 4.5). The URL we post to is checked then.
 */
function readEndpoint(text: string, allowHttp: boolean): URL | undefined {
  const url = readSignerUrl(text, allowHttp)
  if (typeof url === 'string') return undefined
  url.hash = ''
  return url
}
