/**
 * A passkey as proof, alone or as the second factor: D-431, D-435. It returns a verdict and never touches the login.
 * `take` spends the challenge and moves the counter, in the transaction that accepts the proof.
 */
import type { IdentityId } from '../../../base/ids.ts'
import { parseJson } from '../../../base/json.ts'
import type { FactorOwner } from '../factor-owner.ts'
import { countGuess, spending } from '../guessing/code-guesses.ts'
import type { FactorPorts } from '../ports.ts'
import { checkRecoveryCode } from '../recovery-codes.ts'
import type { CheckPorts, FactorVerdict, Prover } from '../second-factor.ts'
import type { SecondFactorStores } from '../stores.ts'
import { openChallenge } from './challenge.ts'
import { userHandleOf } from './options.ts'
import type { Passkey } from './passkey.ts'
import type { RelyingParty } from './relying-party.ts'
import { type Assertion, readAssertion } from './response.ts'
import { type PasskeyRefusal, verifyAssertion } from './verify.ts'

/** What an answer is checked against. */
export interface AssertionPlace {
  readonly use: 'sign-in' | 'prove'
  readonly owner: FactorOwner
  /** Undefined where there are no passkeys: then none is accepted. */
  readonly rp: RelyingParty | undefined
}

export type AssertionVerdict =
  | {
      readonly verdict: 'matches'
      readonly passkey: Passkey
      /** Returns false if the challenge was spent, or the counter was reached by another call. */
      take(tx: Pick<SecondFactorStores, 'passkeys' | 'spentStates'>): Promise<boolean>
    }
  | {
      readonly verdict: 'wrong'
      readonly why: PasskeyRefusal
      readonly identityId: IdentityId | undefined
    }

const DEEPEST = 6

/**
 * Checks an assertion, or a recovery code in its place, of an identity that is known. A recovery code stands in for a
 * passkey that is there: otherwise one of the authenticator app's would satisfy a policy that demands a passkey (D-464).
 */
export async function checkPasskey(
  ports: CheckPorts,
  { identityId, owner, rp }: Prover,
  answer: string,
): Promise<FactorVerdict> {
  const given = answer.trimStart().startsWith('{') ? parseJson(answer, DEEPEST) : undefined
  if (given === undefined) {
    const blocked = await countGuess(ports.codeGuesses, identityId, ports.clock.now())
    if (blocked !== undefined) return blocked
    const enrolled = await ports.passkeys.listEnrolled([identityId])
    if (!enrolled.has(identityId)) return { verdict: 'not-enrolled' }
    return checkRecoveryCode(ports.vault, identityId, answer)
  }
  // A signature cannot be guessed, so it is not counted as a guess.
  const verdict = await judgeAssertion(ports, given.value, { use: 'prove', owner, rp }, identityId)
  if (verdict.verdict === 'wrong') return { verdict: 'wrong', passkey: verdict.why }
  const take = spending(identityId, (tx) => verdict.take(tx))
  return { verdict: 'matches', by: 'passkey', take }
}

/** Checks an assertion. Without `identityId`, the passkey says whose it is. */
export async function judgeAssertion(
  ports: Pick<FactorPorts, 'vault' | 'clock' | 'passkeys'>,
  given: unknown,
  { use, owner, rp }: AssertionPlace,
  identityId?: IdentityId,
): Promise<AssertionVerdict> {
  const now = ports.clock.now()
  const assertion = readAssertion(given)
  const wrong = (why: PasskeyRefusal, whose = identityId): AssertionVerdict => ({
    verdict: 'wrong',
    why,
    identityId: whose,
  })
  if (assertion === undefined) return wrong('malformed')
  if (rp === undefined) return wrong('rp-id')
  const { credentialId, clientData } = assertion
  const challenge = openChallenge(ports.vault, clientData.challenge, use, owner, now)
  // Before the database is asked: an anonymous caller gets no further without a challenge of this login.
  if (challenge === undefined) return wrong(clientData.challenge === '' ? 'malformed' : 'challenge')
  const passkey = await ports.passkeys.findByCredential(credentialId)
  // §7.2 steps 5 and 6: among the passkeys of the identity, and of no other.
  if (passkey === undefined) return wrong('unknown-credential')
  const isOwn = identityId === undefined || passkey.identityId === identityId
  if (!isOwn || passkey.rpId !== rp.id) return wrong('unknown-credential')
  if (!isOwnHandle(assertion, passkey, identityId)) return wrong('user-handle', passkey.identityId)
  const verified = await verifyAssertion(assertion, passkey, {
    rp,
    isUserVerified: use === 'sign-in',
    isOurChallenge: true,
  })
  if ('refusal' in verified) return wrong(verified.refusal, passkey.identityId)
  return {
    verdict: 'matches',
    passkey,
    async take(tx) {
      const { hash, expiresAt } = challenge
      if (!(await tx.spentStates.insert({ hash, expiresAt }))) return false
      return tx.passkeys.markUsed(passkey.id, { ...verified, at: now })
    },
  }
}

/** §7.2 step 6: an authenticator that names the user must name the owner, and must name one if nothing else does. */
function isOwnHandle(
  { userHandle }: Assertion,
  passkey: Passkey,
  identityId: IdentityId | undefined,
): boolean {
  if (userHandle === undefined) return identityId !== undefined
  return userHandle === userHandleOf({ id: passkey.identityId })
}
