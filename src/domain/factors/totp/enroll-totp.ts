/**
 * Sets up an authenticator app. SPEC TOTP enrollment during an OIDC flow; D-19, D-240; R084, R087, R089, R090. Each
 * `take` belongs in the transaction that does the rest.
 */

import { newId, type TotpEnrollmentId } from '../../../base/ids.ts'
import { provisioningUrl } from '../../../protocol/totp.ts'
import { countGuess, spending } from '../guessing/code-guesses.ts'
import { freshRecoveryCodes } from '../recovery-codes.ts'
import type { FactorEnrollment } from '../second-factor.ts'
import { clockOffOf, matchingStep, openTotpSecret } from './totp.ts'
import type { TotpEnrollment } from './totp-enrollment.ts'

export interface TotpSetup {
  /** The content of the QR code. */
  readonly provisioningUrl: string
}

/** R084: 160 bits, as long as the hash (RFC 4226 §4 R6). */
const SECRET_BYTES = 20

const NO_CODES = { recoveryCodes: [], hashes: [] } as const

/** An identity has at most one authenticator app, pending or verified. */
export const totpEnrollment: FactorEnrollment<TotpSetup> = {
  async start(ports, { identity: { id: identityId, name }, owner, hostname }) {
    const { vault, random, clock } = ports
    const id = newId<TotpEnrollmentId>(random)
    const secret = random.bytes(SECRET_BYTES)
    const enrollment: TotpEnrollment = {
      id,
      identityId,
      isVerified: false,
      owner,
      sealedSecret: vault.seal('totp-secret', secret, id),
      createdAt: clock.now(),
    }
    const fresh = freshRecoveryCodes(ports, identityId)
    const stored = await ports.transaction(async (tx) => {
      if ((await tx.identities.hold(identityId)) === undefined) return 'gone'
      // With another factor there are recovery codes already, and they stay (D-437). Looked up while the identity is held:
      // no passkey comes or goes before the enrollment is stored.
      const hasPasskey = (await tx.passkeys.listEnrolled([identityId])).has(identityId)
      const { recoveryCodes, hashes } = hasPasskey ? NO_CODES : fresh
      const isStored = await tx.totpEnrollments.replacePending(enrollment, hashes)
      return isStored ? { recoveryCodes } : 'exists'
    })
    if (stored === 'gone' || stored === 'exists') return stored
    const url = provisioningUrl({ issuer: hostname, name, secret })
    return { id, setup: { provisioningUrl: url }, ...stored }
  },

  async find({ vault, totpEnrollments }, { identity, owner, hostname }) {
    const enrollment = await totpEnrollments.find(identity.id)
    if (enrollment === undefined) return undefined
    const { id } = enrollment
    if (enrollment.isVerified) return { id, setup: undefined }
    if (enrollment.owner !== owner) return undefined
    const secret = openTotpSecret(vault, enrollment)
    const url = provisioningUrl({ issuer: hostname, name: identity.name, secret })
    return { id, setup: { provisioningUrl: url } }
  },

  /** A code of the app. Recovery codes are not accepted, and no time step is spent (D-17). */
  async prove({ vault, clock, totpEnrollments, codeGuesses }, { identityId, owner }, code) {
    const now = clock.now()
    const enrollment = await totpEnrollments.find(identityId)
    // Without a pending enrollment of this owner there is nothing to guess, so nothing is counted: otherwise one login
    // could make the owner of another wait.
    const isPending = enrollment?.isVerified === false && enrollment.owner === owner
    if (!isPending) return { verdict: 'not-started' }
    const blocked = await countGuess(codeGuesses, identityId, now)
    if (blocked !== undefined) return blocked
    const secret = openTotpSecret(vault, enrollment)
    if (matchingStep(secret, code, now) === undefined) {
      return { verdict: 'wrong', ...clockOffOf(secret, code, now) }
    }
    const take = spending(identityId, (tx) => tx.totpEnrollments.markVerified(enrollment, now))
    return { verdict: 'matches', take }
  },

  cancel: ({ transaction }, { identityId, owner }) =>
    transaction(async (tx) => {
      if (await tx.totpEnrollments.removePending(identityId, owner)) return 'cancelled'
      const left = await tx.totpEnrollments.find(identityId)
      return left?.isVerified ? 'verified' : 'not-started'
    }),

  remove: (tx, identityId) => tx.totpEnrollments.remove(identityId),
}
