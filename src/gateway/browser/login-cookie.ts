/**
 * A login in progress, sealed into a cookie of the browser that began it: anonymous visitors cost the gateway no memory,
 * and no other browser can finish the login (login CSRF, RFC 6749 §10.12). The key lives as long as the gateway runs. D-411.
 */
import { isText, parseJson } from '../../base/json.ts'
import type { Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import { minutes } from '../../base/time/duration.ts'
import type { Proof } from '../../client/client.ts'
import type { StepUp } from './step-up.ts'

export interface LoginInProgress {
  readonly proof: Proof
  /** Where the browser wanted to go. */
  readonly target: string
  /** What the sign-in was asked for. */
  readonly stepUp: StepUp
}

/** As long as an auth request at the controller. */
const LIFE = minutes(10)

const DEEPEST = 2

export const callbackOf = (origin: string) => `${origin}/.latchkey/callback`

export function sealLogin(
  { vault, clock }: { readonly vault: Vault; readonly clock: Pick<Clock, 'now'> },
  origin: string,
  { proof: { state, nonce, verifier }, target, stepUp }: LoginInProgress,
): string {
  const text = JSON.stringify([state, nonce, verifier, target, clock.now(), stepUp])
  return vault.seal('gateway-login', Buffer.from(text), origin)
}

/** Undefined if it was sealed for another origin, is too old, or was not sealed here. */
export function openLogin(
  { vault, clock }: { readonly vault: Vault; readonly clock: Pick<Clock, 'now'> },
  origin: string,
  sealed: string,
): LoginInProgress | undefined {
  const value = parseJson(vault.open('gateway-login', sealed, origin), DEEPEST)?.value
  if (!Array.isArray(value)) return undefined
  const [state, nonce, verifier, target, at, stepUp] = value
  if (!isText(state) || !isText(nonce) || !isText(verifier) || !isText(target)) return undefined
  if (typeof at !== 'number' || clock.now() - at > LIFE) return undefined
  return { proof: { state, nonce, verifier, redirectUri: callbackOf(origin) }, target, stepUp }
}
