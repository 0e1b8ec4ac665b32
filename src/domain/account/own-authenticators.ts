/**
 * A user's own password and certificate, from inside a session. API 3.1. Changing the password or the spelling of the
 * username needs the current password, which is checked, counted and locked like a login (D-22); it ends the user's
 * other sessions. Only administrators change a username itself: a refusal would reveal which names exist (D-217).
 */

import type { AuthenticatorId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { Clock } from '../../base/time/clock.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import { record } from '../audit/record.ts'
import { changedFields, changesBetween } from '../changes.ts'
import { hashNewPassword } from '../factors/passwords/new-password.ts'
import type { Accepted } from '../factors/verdict.ts'
import { withdrawResetWithin } from '../factors/withdraw-reset.ts'
import {
  type Authenticator,
  type AuthenticatorDetail,
  type UpdbAuthenticator,
  usernameKey,
} from '../identities/authenticator.ts'
import type { Identity, Tags } from '../identities/identity.ts'
import { listInMemory } from '../lists/evaluate.ts'
import type { ListQuery } from '../lists/list-query.ts'
import { provePrimary } from '../login/prove-primary.ts'
import type { PageOf } from '../paging.ts'
import { invalid, notFound } from '../refusals.ts'
import { type CallSession, orSessionGone, sessionGone } from '../sessions/call-session.ts'
import { endInSession } from '../sessions/own-sessions.ts'
import type { Stores } from '../stores.ts'
import type { AccountPorts } from './ports.ts'

/** A certificate is renewed, not set: users can change only its tags. */
export type OwnChange =
  | {
      readonly method: 'updb'
      readonly username: string
      /** Undefined: keep the current one. */
      readonly password: Secret | undefined
      readonly currentPassword: Secret | undefined
      readonly tags: Tags
    }
  | { readonly method: 'cert'; readonly tags: Tags }

type OwnPorts = Pick<AccountPorts, 'brand' | 'identities' | 'authenticators'>

/** Lists only the caller's own. */
export async function listOwnAuthenticators(
  ports: OwnPorts,
  call: CallSession,
  query: ListQuery,
): Promise<PageOf<AuthenticatorDetail>> {
  const identity = await ownerOf(ports, call)
  const { rows, totalCount } = listInMemory(await ports.authenticators.listOf(identity.id), query)
  return { rows: rows.map((authenticator) => ({ authenticator, identity })), totalCount }
}

/** Throws NOT_FOUND if it is not the caller's own. */
export async function findOwnAuthenticator(
  ports: OwnPorts,
  call: CallSession,
  id: AuthenticatorId,
): Promise<AuthenticatorDetail> {
  const identity = await ownerOf(ports, call)
  return { authenticator: own(await ports.authenticators.find(id), call), identity }
}

/**
 * Replaces it with what `change` returns; `change` is called twice. Throws NOT_FOUND if it is not the caller's own. A
 * wrong `currentPassword` is COULD_NOT_VALIDATE and not a 401: the session is valid, and clients log out on a 401
 * (D-123).
 */
export async function updateOwnAuthenticator(
  ports: AccountPorts,
  call: CallSession,
  id: AuthenticatorId,
  change: (current: Authenticator) => OwnChange,
  caller: Caller,
): Promise<void> {
  const found = own(await ports.authenticators.find(id), call)
  const asked = change(found)
  let proof: Accepted | undefined
  let passwordHash: string | undefined
  if (asked.method === 'updb' && found.method === 'updb' && needsProof(found, asked)) {
    const { username, password } = asked
    refuseOtherName(found, username)
    proof = await prove(ports, found, asked.currentPassword, { call, caller })
    passwordHash = password && (await hashNewPassword(ports, password, { ...proof, username }))
  }
  await ports.transaction(async (tx) => {
    // Lock the row of the identity first, as at a login.
    const identity = await tx.identities.hold(call.identityId)
    const session = await tx.apiSessions.find(call.sessionId)
    if (identity === undefined || session === undefined) throw sessionGone(ports.brand, call)
    const current = own(await tx.authenticators.find(id), call)
    const next = change(current)
    if (!(await write(ports, tx, { current, next, proof, passwordHash }, caller))) return
    if (proof !== undefined) await tx.identities.voidLogins(call.identityId)
    if (passwordHash !== undefined) {
      const { identityId } = call
      await withdrawResetWithin(ports, tx, { method: 'reset-password', identityId }, caller)
    }
    const all = proof === undefined ? [] : await tx.apiSessions.listOf(call.identityId)
    const sessions = all.filter((one) => one.id !== call.sessionId)
    await endInSession(ports, tx, call, { sessions }, 'credential-changed', caller)
  })
}

async function ownerOf(ports: OwnPorts, call: CallSession): Promise<Identity> {
  return orSessionGone(ports, call, await ports.identities.find(call.identityId))
}

/** Throws COULD_NOT_VALIDATE; RATE_LIMITED and SERVER_TOO_BUSY as at a login. */
async function prove(
  ports: AccountPorts,
  { id, identityId, username }: UpdbAuthenticator,
  password: Secret | undefined,
  { call, caller }: { readonly call: CallSession; readonly caller: Caller },
): Promise<Accepted> {
  if (password === undefined) throw unproven()
  const credential = { method: 'password', credentials: { username, password } } as const
  // R080: guesses by others at the login must not keep the holder of a session from changing the password.
  const device = { session: { id: call.sessionId, identityId } }
  try {
    const accepted = await provePrimary(ports, { credential, bearers: [], caller, device })
    if (accepted.primary.authenticatorId === id) return accepted
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'INVALID_AUTH') throw error
  }
  throw wrong()
}

/** Returns false if there is nothing to change. */
async function write(
  ports: AuditPorts,
  tx: Stores,
  wanted: Wanted,
  caller: Caller,
): Promise<boolean> {
  const { current, next, proof, passwordHash } = wanted
  const { id, identityId } = current
  const { tags } = next
  const isPassword = current.method === 'updb' && next.method === 'updb'
  const fields: OwnFields = isPassword ? { tags, username: next.username } : { tags }
  const changed: string[] = [...changedFields<OwnFields>(current, fields)]
  if (isPassword && passwordHash !== undefined) changed.push('password')
  if (changed.length === 0) return false
  const outcome = await replace(tx, wanted, ports.clock)
  // The password was changed after the current one was checked, so that one is no longer current.
  if (outcome === 'missing') throw proof === undefined ? notFound() : wrong()
  if (outcome === 'username-in-use') throw new Error('a username conflicts with its own spelling')
  const details = { id, changed, changes: changesBetween<OwnFields>(current, fields) }
  await record(ports, tx, caller, { type: 'authenticator.updated', identityId, details })
  return true
}

function replace(tx: Stores, { current, next, proof, passwordHash }: Wanted, clock: Clock) {
  const { id, credentialVersion } = current
  const { tags } = next
  const at = clock.now()
  if (current.method === 'updb' && next.method === 'updb') {
    const { username } = next
    refuseOtherName(current, username)
    if (proof === undefined && username !== current.username) throw unproven()
    const proven = proof?.primary.credentialVersion ?? credentialVersion
    return tx.authenticators.replaceUpdb(id, proven, { username, passwordHash, tags }, at)
  }
  return tx.authenticators.replaceCert(id, credentialVersion, { certificate: undefined, tags }, at)
}

type OwnFields = Partial<Pick<UpdbAuthenticator, 'tags' | 'username'>>

interface Wanted {
  readonly current: Authenticator
  readonly next: OwnChange
  readonly proof: Accepted | undefined
  readonly passwordHash: string | undefined
}

function own(found: Authenticator | undefined, { identityId }: CallSession): Authenticator {
  if (found?.identityId !== identityId) throw notFound()
  return found
}

function needsProof(
  current: UpdbAuthenticator,
  { username, password }: Extract<OwnChange, { method: 'updb' }>,
): boolean {
  return password !== undefined || username !== current.username
}

/** D-217: the same refusal whether the name exists or not. */
function refuseOtherName(current: UpdbAuthenticator, username: string): void {
  if (usernameKey(username) === usernameKey(current.username)) return
  throw invalid('username', 'can be changed by an administrator only')
}

function unproven(): Failure {
  return invalid('currentPassword', 'is missing')
}

/** The same message for a wrong and for a locked password, as at a login. */
function wrong(): Failure {
  return invalid('currentPassword', 'is wrong, or too many wrong ones were tried')
}
