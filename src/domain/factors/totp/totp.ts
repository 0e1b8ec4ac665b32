/**
 * TOTP as the second factor: a code of the authenticator app, or a recovery code instead. D-16 … D-18; R084 – R088.
 *
 * It returns a verdict and never touches the auth request or session. Every guess is counted before it is checked.
 * `take` spends a correct one, in the transaction that accepts the factor (R085).
 */

import { equalInConstantTime, type Vault } from '../../../base/secrets/vault.ts'
import type { Instant } from '../../../base/time/instant.ts'
import { STEP_SECONDS, totpCode, totpStep } from '../../../protocol/totp.ts'
import { type ClockOff, clockOff } from '../../audit/clock-off.ts'
import { countGuess, spending } from '../guessing/code-guesses.ts'
import { checkRecoveryCode, withoutSpaces } from '../recovery-codes.ts'
import type { CheckPorts, FactorVerdict, Prover } from '../second-factor.ts'
import type { TotpEnrollment } from './totp-enrollment.ts'

export async function checkCode(
  { vault, clock, totpEnrollments, codeGuesses }: CheckPorts,
  { identityId }: Pick<Prover, 'identityId'>,
  code: string,
): Promise<FactorVerdict> {
  const now = clock.now()
  const blocked = await countGuess(codeGuesses, identityId, now)
  if (blocked !== undefined) return blocked
  const enrollment = await totpEnrollments.find(identityId)
  if (!enrollment?.isVerified) return { verdict: 'not-enrolled' }

  const secret = openTotpSecret(vault, enrollment)
  const step = matchingStep(secret, code, now)
  if (step === undefined) {
    // A code made only of the digits 2 to 7 can be either.
    return { ...checkRecoveryCode(vault, identityId, code), ...clockOffOf(secret, code, now) }
  }
  const take = spending(identityId, (tx) => tx.totpEnrollments.takeStep(enrollment, step))
  return { verdict: 'matches', by: 'totp', take }
}

/** D-17: one step of drift either way. */
const DRIFT = [-1, 0, 1] as const

/** The last time step whose code is accepted now. */
export function lastAcceptedStep(now: Instant): number {
  return totpStep(now) + Math.max(...DRIFT)
}

/**
 * Returns the time step that this code belongs to. Always compares all steps, so that the time reveals nothing (R085).
 * If two steps have the same code, returns the later one: spending it spends both.
 */
export function matchingStep(secret: Uint8Array, code: string, now: Instant): number | undefined {
  const given = withoutSpaces(code)
  const steps = DRIFT.map((drift) => totpStep(now) + drift)
  return steps.filter((step) => equalInConstantTime(totpCode(secret, step), given)).at(-1)
}

/** D-325: ten minutes either way. Each search is one counted guess (D-18), so its cost is bounded too. */
const SEARCHED_STEPS = 20

/**
 * Returns how far the clock of the authenticator app is from ours, if the code is that of a time step near by. Always
 * computes all of them, so that the time reveals nothing (R085).
 */
export function clockOffOf(
  secret: Uint8Array,
  code: string,
  now: Instant,
): { readonly clock?: ClockOff } {
  const given = withoutSpaces(code)
  if (!/^[0-9]{6}$/.test(given)) return {}
  const drifts = Array.from({ length: 2 * SEARCHED_STEPS + 1 }, (_, i) => i - SEARCHED_STEPS)
  const [nearest] = drifts
    .filter((drift) => equalInConstantTime(totpCode(secret, totpStep(now) + drift), given))
    .toSorted((a, b) => Math.abs(a) - Math.abs(b))
  return nearest === undefined ? {} : clockOff('totp', nearest * STEP_SECONDS)
}

export function openTotpSecret(vault: Vault, enrollment: TotpEnrollment): Uint8Array {
  const secret = vault.open('totp-secret', enrollment.sealedSecret, enrollment.id)
  if (secret === undefined) throw new Error('a stored TOTP secret cannot be opened')
  return secret
}
