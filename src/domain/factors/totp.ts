/**
 * TOTP as the second factor: a code of the authenticator app, or a recovery code instead. D-16 … D-18; R084 – R088.
 *
 * It returns a verdict and never touches the auth request or session. Every guess is counted before it is checked.
 * `take` spends a correct one, in the transaction that accepts the factor (R085).
 */

import type { IdentityId } from '../../base/ids.ts'
import { equalInConstantTime, type Vault } from '../../base/secrets/vault.ts'
import { hours, milliseconds, seconds } from '../../base/time/duration.ts'
import { type Instant, plus } from '../../base/time/instant.ts'
import { totpQuery } from '../../protocol/auth-query.ts'
import { STEP_SECONDS, totpCode, totpStep } from '../../protocol/totp.ts'
import { type ClockOff, clockOff } from '../audit/clock-off.ts'
import type { Stores } from '../stores.ts'
import { isRecoveryCode, recoveryCodeHash, withoutSpaces } from './recovery-codes.ts'
import type { Blocked, CheckPorts, FactorVerdict, SecondFactor } from './second-factor.ts'
import type { CodeGuesses } from './stores.ts'
import type { TotpEnrollment } from './totp-enrollment.ts'

export async function checkCode(
  { vault, clock, totpEnrollments, codeGuesses }: CheckPorts,
  identityId: IdentityId,
  code: string,
): Promise<FactorVerdict> {
  const now = clock.now()
  const blocked = await countGuess(codeGuesses, identityId, now)
  if (blocked !== undefined) return blocked
  const enrollment = await totpEnrollments.find(identityId)
  if (!enrollment?.isVerified) return { verdict: 'not-enrolled' }

  const secret = openTotpSecret(vault, enrollment)
  const step = matchingStep(secret, code, now)
  if (step !== undefined) {
    return matches('totp', identityId, (tx) => tx.totpEnrollments.takeStep(identityId, step))
  }
  // A code made only of the digits 2 to 7 can be either.
  if (!isRecoveryCode(code)) return { verdict: 'wrong', ...clockOffOf(secret, code, now) }
  const hash = recoveryCodeHash(vault, identityId, code)
  return matches('recovery-code', identityId, (tx) =>
    tx.totpEnrollments.takeRecoveryCode(identityId, hash),
  )
}

/** Counts a guess. Returns the refusal if no guess is accepted now, otherwise undefined. */
export async function countGuess(
  codeGuesses: Pick<CodeGuesses, 'take'>,
  identityId: IdentityId,
  now: Instant,
): Promise<Blocked | undefined> {
  const taken = await codeGuesses.take(identityId, now, (guesses) => blockedUntil(guesses, now))
  if (!('blockedUntil' in taken)) return undefined
  const left = Math.ceil((taken.blockedUntil - now) / 1_000)
  return { verdict: 'blocked', retryAfterSeconds: Math.max(1, left) }
}

/** D-18: the first ten wrong codes in a row cause no delay. */
const FREE_GUESSES = 10
const FIRST_BLOCK = seconds(30)
const LONGEST_BLOCK = hours(1)

/**
 * D-108. Returns until when the next guess is refused after this many in a row; undefined if it is not refused. 30 s is
 * one step of the app, so a user who types slowly waits for one code. The delay doubles up to an hour: a hundred
 * guesses (NIST SP 800-63B-4 §3.2.2) take more than three days and hit one of three codes in a million with 0.03 %. An
 * attacker with the stolen password can block the owner in this way, but never for longer than an hour at a time.
 */
export function blockedUntil(guesses: number, now: Instant): Instant | undefined {
  if (guesses < FREE_GUESSES) return undefined
  const block = FIRST_BLOCK * 2 ** (guesses - FREE_GUESSES)
  return plus(now, milliseconds(Math.min(block, LONGEST_BLOCK)))
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

function matches(
  by: 'totp' | 'recovery-code',
  identityId: IdentityId,
  spend: (tx: Pick<Stores, 'totpEnrollments'>) => Promise<boolean>,
): FactorVerdict {
  return {
    verdict: 'matches',
    by,
    take: async (tx) => {
      if (!(await spend(tx))) return false
      await tx.codeGuesses.clear(identityId)
      return true
    },
  }
}

export const totpFactor: SecondFactor = {
  id: 'totp',

  async isEnrolled({ totpEnrollments }, identityId) {
    const enrollment = await totpEnrollments.find(identityId)
    return enrollment?.isVerified === true
  },

  listEnrolled: ({ totpEnrollments }, identityIds) => totpEnrollments.listVerified(identityIds),

  query: totpQuery,

  check: checkCode,
}
