/**
 * Bodies of management writes as the clients' models write them: D-318. A field that we do not have is accepted when it
 * says nothing (null, or the value that means "none"), and otherwise refused with the reason, never silently dropped.
 */

import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { invalid } from '../../domain/refusals.ts'
import { SHORTEST_PASSWORD as SHORTEST } from '../../protocol/limits.ts'

/** Types of identities that others no longer distinguish either. */
const OLDER_TYPES: readonly unknown[] = ['User', 'Device', 'Service']

const NO_SERVICES = 'cannot be set: this service manages no services and routers'
const NO_PERMISSIONS = 'cannot be set: `isAdmin` is the only permission here'
const NO_CHARACTERS =
  'is not supported: passwords are judged by their length and a list of common ones'
const NO_JIT = 'is not supported: identities are created by an administrator or a CA'

type Foreign = Readonly<Record<string, readonly [says: readonly unknown[], reason: string]>>

const IDENTITY: Foreign = {
  defaultHostingCost: [[0], NO_SERVICES],
  defaultHostingPrecedence: [['default', ''], NO_SERVICES],
  serviceHostingCosts: [[], NO_SERVICES],
  serviceHostingPrecedences: [[], NO_SERVICES],
  permissions: [[], NO_PERMISSIONS],
}

const UPDB: Foreign = {
  requireMixedCase: [[false], NO_CHARACTERS],
  requireNumberChar: [[false], NO_CHARACTERS],
  requireSpecialChar: [[false], NO_CHARACTERS],
}

const SIGNER: Foreign = {
  enrollToCertEnabled: [[false], NO_JIT],
  enrollToTokenEnabled: [[false], NO_JIT],
  enrollAttributeClaimsSelector: [[''], NO_JIT],
  enrollAuthPolicyId: [[''], NO_JIT],
  enrollNameClaimsSelector: [[''], NO_JIT],
}

/** What a model may say without meaning it, by the collection it is sent to. Paths are separated by dots. */
interface Unset {
  /** Optional texts. The models write an empty one for what was not set, and so does a user who clears it. */
  readonly texts: readonly string[]
  /** What null clears in a PATCH. For any other field it says nothing. */
  readonly clearable: readonly string[]
}

const SIGNER_TEXTS = ['jwksEndpoint', 'certPem', 'kid', 'externalAuthUrl', 'clientId']
const REQUIRED_SIGNER = ['secondary.requireExtJwt', 'secondary.requireExtJwtSigner']

const UNSET: Readonly<Record<string, Unset>> = {
  '/identities': {
    texts: ['externalId', 'authPolicyId', 'enrollment.updb', 'enrollment.ottca'],
    clearable: ['externalId'],
  },
  '/external-jwt-signers': {
    texts: [...SIGNER_TEXTS, 'claimsProperty', 'targetToken'],
    clearable: SIGNER_TEXTS,
  },
  '/auth-policies': { texts: REQUIRED_SIGNER, clearable: REQUIRED_SIGNER },
  '/cas': { texts: ['identityNameFormat'], clearable: ['externalIdClaim'] },
  '/enrollments': { texts: ['caId', 'username', 'expiresAt'], clearable: [] },
}

const NEVER_UNSET: Unset = { texts: [], clearable: [] }

/** Returns the body in our own shape. `isPatch`: what it does not name stays. Throws COULD_NOT_VALIDATE. */
export function modelBody(path: string, isPatch: boolean, body: JsonObject): JsonObject {
  const [, collection = ''] = /^(\/[^/]+)(?:\/:id(?:\/what-if)?)?$/.exec(path) ?? []
  const given = meant(body, UNSET[collection] ?? NEVER_UNSET, isPatch)
  switch (collection) {
    case '/identities':
      return identityBody(given)
    case '/external-jwt-signers':
      return without(given, SIGNER)
    case '/auth-policies':
      return policyBody(given)
    case '/cas':
      return caBody(given)
    default:
      return given
  }
}

/** Maps with names of the administrator's own; null is a value in them. */
const MAPS: readonly string[] = ['tags', 'appData']

/**
 * Returns what the body means to say. Generated models write null for whatever was not set, also where we know no such
 * field, and for every list: cleared, `allowedSigners` would allow every signer.
 */
function meant(body: JsonObject, unset: Unset, isPatch: boolean, prefix = ''): JsonObject {
  const entries = Object.entries(body).flatMap(([name, value]): (readonly [string, unknown])[] => {
    const path = `${prefix}${name}`
    if (value === '' && unset.texts.includes(path)) return isPatch ? [[name, null]] : []
    if (value === null) return isPatch && unset.clearable.includes(path) ? [[name, null]] : []
    if (!isJsonObject(value) || MAPS.includes(name)) return [[name, value]]
    return [[name, meant(value, unset, isPatch, `${path}.`)]]
  })
  return Object.fromEntries(entries)
}

function identityBody(given: JsonObject): JsonObject {
  const rest = without(given, IDENTITY)
  return OLDER_TYPES.includes(rest['type']) ? { ...rest, type: 'Default' } : rest
}

function policyBody(given: JsonObject): JsonObject {
  const { primary } = given
  if (!isJsonObject(primary) || !isJsonObject(primary['updb'])) return given
  const updb = longEnough(without(primary['updb'], UPDB, 'primary.updb.'))
  return { ...given, primary: { ...primary, updb } }
}

/** R073: the tools always send their own default, which is below our minimum. */
function longEnough(updb: JsonObject): JsonObject {
  const { minPasswordLength: length } = updb
  const isShort = Number.isInteger(length) && Number(length) >= 0 && Number(length) < SHORTEST
  return isShort ? { ...updb, minPasswordLength: SHORTEST } : updb
}

/** A claim without any member says nothing. */
function caBody(given: JsonObject): JsonObject {
  const { externalIdClaim, ...rest } = given
  return isJsonObject(externalIdClaim) && isEmpty(externalIdClaim) ? rest : given
}

function without(given: JsonObject, foreign: Foreign, prefix = ''): JsonObject {
  const kept = Object.entries(given).filter(([name, value]) => {
    const known = Object.hasOwn(foreign, name) ? foreign[name] : undefined
    if (known === undefined) return true
    const [says, reason] = known
    if (value !== null && !isEmpty(value) && !says.includes(value)) {
      throw invalid(`${prefix}${name}`, reason)
    }
    return false
  })
  return Object.fromEntries(kept)
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
