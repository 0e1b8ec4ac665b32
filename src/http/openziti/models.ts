/**
 * Bodies of management writes as the clients' models write them: D-318. A field that we do not have is accepted when it
 * says nothing (null, or the value that means "none"), and otherwise refused with the reason, never silently dropped.
 */
import { isMembers } from '../edge-api/changed-body.ts'
import { invalid } from '../reading/fields.ts'

type Members = Readonly<Record<string, unknown>>

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

/** Returns the body in our own shape. Throws COULD_NOT_VALIDATE. */
export function modelBody(method: string, path: string, body: Members): Members {
  // In a PATCH null clears (D-121).
  const given = method === 'PATCH' ? body : withoutNulls(body)
  if (isAt(path, '/identities')) return identityBody(given)
  if (isAt(path, '/external-jwt-signers')) return without(given, SIGNER)
  if (isAt(path, '/auth-policies')) return policyBody(given)
  return given
}

function isAt(path: string, entities: string): boolean {
  return path === entities || path === `${entities}/:id`
}

function identityBody(given: Members): Members {
  const rest = without(given, IDENTITY)
  return OLDER_TYPES.includes(rest['type']) ? { ...rest, type: 'Default' } : rest
}

function policyBody(given: Members): Members {
  const { primary } = given
  if (!isMembers(primary) || !isMembers(primary['updb'])) return given
  const updb = without(primary['updb'], UPDB, 'primary.updb.')
  return { ...given, primary: { ...primary, updb } }
}

function without(given: Members, foreign: Foreign, prefix = ''): Members {
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

/** Maps with names of the administrator's own; null is a value in them. */
const MAPS: readonly string[] = ['tags', 'appData']

/** Generated models write null for whatever was not set, also where we know no such field. */
function withoutNulls(given: Members): Members {
  const kept = Object.entries(given).filter(([, value]) => value !== null)
  return Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      isMembers(value) && !MAPS.includes(name) ? withoutNulls(value) : value,
    ]),
  )
}
