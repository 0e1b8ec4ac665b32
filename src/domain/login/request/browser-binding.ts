/**
 * Binds a login to the browser that began it: D-10.
 *
 * Attack: an attacker begins a login with their own code challenge and sends the genuine login link to a user; or
 * another site posts a form to a login endpoint. The user's credentials would complete the attacker's login. So a login
 * begun in a browser needs that browser's cookie at every later step, and a step that comes from a browser is refused
 * if the login was not begun in one.
 */
import { base64url } from '../../../base/encoding.ts'
import type { Random } from '../../../base/secrets/random.ts'
import { equalInConstantTime, type SecretHash, type Vault } from '../../../base/secrets/vault.ts'
import type { AuthRequestKey } from './auth-request.ts'

/** Where a later step of a login comes from. */
export interface StepOrigin {
  /** Detected by `Sec-Fetch-Site` only: scripts cannot remove it, and programs do not send it. */
  readonly isBrowser: boolean
  /** A POST from another site that is not one of the allowed origins. */
  readonly isForeignPost: boolean
  /** The value of this request's cookie, if it was sent. */
  readonly cookie: (key: AuthRequestKey) => string | undefined
}

const COOKIE_BYTES = 16

/** Returns a new cookie value for a login that begins in a browser, and the hash that the request stores. */
export function bindBrowser(vault: Vault, random: Random): { cookie: string; hash: SecretHash } {
  const cookie = base64url(random.bytes(COOKIE_BYTES))
  return { cookie, hash: vault.hash('browser', cookie) }
}

/** Returns why this step must be refused, or undefined if it may continue. */
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
