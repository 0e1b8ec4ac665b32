/**
 * A browser finishes what it began: D-10.
 *
 * Attack: somebody begins a login with a code challenge of his own and sends a person the genuine login link; or
 * a foreign site posts a form to a login endpoint. The person's credentials would complete the attacker's login.
 * So a login begun in a browser needs that browser's cookie at every later step, and a step that comes from a
 * browser is refused on a login that was not begun in one.
 */
import { base64url } from '../../../base/encoding.ts'
import type { Random } from '../../../base/secrets/random.ts'
import { equalInConstantTime, type SecretHash, type Vault } from '../../../base/secrets/vault.ts'
import type { AuthRequestKey } from './auth-request.ts'

/** What a later step of a login shows about where it comes from. */
export interface StepOrigin {
  /** Told by `Sec-Fetch-*` alone: scripts cannot remove those fields, and programs do not send them. */
  readonly isBrowser: boolean
  /** A POST from another site that is not one of the allowed origins. */
  readonly isForeignPost: boolean
  /** The value of this request's cookie, if it was sent. */
  readonly cookie: (key: AuthRequestKey) => string | undefined
}

const COOKIE_BYTES = 16

/** A fresh cookie value for a login that begins in a browser, and what the request remembers of it. */
export function bindBrowser(vault: Vault, random: Random): { cookie: string; hash: SecretHash } {
  const cookie = base64url(random.bytes(COOKIE_BYTES))
  return { cookie, hash: vault.hash('browser', cookie) }
}

/** Why this step may not go on, or undefined when it may. */
export function refuseStep(
  vault: Vault,
  request: { readonly key: AuthRequestKey; readonly browser: SecretHash | undefined },
  step: StepOrigin,
): string | undefined {
  if (step.isForeignPost) return 'a login was posted from another site'
  if (request.browser === undefined) {
    return step.isBrowser ? 'a browser took over a login that a program began' : undefined
  }
  const cookie = step.cookie(request.key)
  if (cookie === undefined) return 'the cookie of the browser that began the login is missing'
  return equalInConstantTime(vault.hash('browser', cookie), request.browser)
    ? undefined
    : 'the cookie is that of another login'
}
