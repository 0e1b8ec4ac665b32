/** What the transactions that wait for nothing have in common (D-466). */
import type { Transaction } from 'kysely'
import type { AuthenticatorId, IdentityId } from '../../../base/ids.ts'
import type { Instant } from '../../../base/time/instant.ts'
import { type ProvenPrimary, provenFingerprint } from '../../../domain/factors/proven.ts'
import { type Identity, isDisabled } from '../../../domain/identities/identity.ts'
import { isStillAccepted } from '../../../domain/login/hold-login.ts'
import type { UsedProof } from '../../../domain/tokens/stores.ts'
import { fixedQuery, insertRowNow } from '../../fixed-query.ts'
import { MARK_USED } from '../../identities/authenticators.ts'
import { FIND_IDENTITY, identityOf } from '../../identities/identities.ts'
import type { Tables } from '../../tables.ts'

type Tx = Transaction<Tables>

const FIND_DISABLED = fixedQuery((db, { id }: { id: IdentityId }) =>
  db.selectFrom('identities').select(['disabled_at', 'disabled_until']).where('id', '=', id),
)
const registered = (table: 'authenticators' | 'passkeys') =>
  fixedQuery((db, { id }: { id: AuthenticatorId }) =>
    db.selectFrom(table).select('id').where('id', '=', id),
  )
const FIND_AUTHENTICATOR = registered('authenticators')
const FIND_PASSKEY = registered('passkeys')

/** Returns false if the proof was used before. */
export function useProof(tx: Tx, proof: UsedProof | undefined): boolean {
  if (proof === undefined) return true
  const { hash, expiresAt } = proof
  return insertRowNow(tx, 'used_proofs', { hash, expires_at: expiresAt }, 'hash')
}

/** For an existing session: the identity is enabled, and its credential has not been removed. */
export function hasOwner(
  tx: Tx,
  { identityId, authenticatorId, method }: ProvenPrimary,
  now: Instant,
): boolean {
  const row = FIND_DISABLED.firstNow(tx, { id: identityId })
  if (row === undefined) return false
  const { disabled_at: disabledAt, disabled_until: disabledUntil } = row
  const state = { disabledAt: disabledAt ?? undefined, disabledUntil: disabledUntil ?? undefined }
  if (isDisabled(state, now)) return false
  if (authenticatorId === undefined) return true
  const find = method === 'passkey' ? FIND_PASSKEY : FIND_AUTHENTICATOR
  return find.firstNow(tx, { id: authenticatorId }) !== undefined
}

/** As `holdLogin` of the domain: for a login that becomes a session. Marks the credential as used. */
export function holdLogin(
  tx: Tx,
  { primary, identity: seen }: { readonly primary: ProvenPrimary; readonly identity: Identity },
  now: Instant,
): boolean {
  const { identityId, authenticatorId: id, method, credentialVersion: version = 0, at } = primary
  const row = FIND_IDENTITY.firstNow(tx, { id: identityId })
  if (row === undefined || !isStillAccepted(primary, seen, identityOf(row), now)) return false
  if (id === undefined) return true
  if (method === 'passkey') return FIND_PASSKEY.firstNow(tx, { id }) !== undefined
  const fingerprint = provenFingerprint(primary) ?? null
  return MARK_USED.countNow(tx, { id, version, at, fingerprint }) === 1
}
