/**
 * Starts a login again that has expired or is complete: D-344. Its sealed id still says what the client asked for (D-7),
 * so the user returns to the application with the `state` and challenge that it knows. It can do nothing that the
 * authorization request could not do again: client, issuer and redirect URI are checked as they are configured now.
 */
import type { Issuer } from '../../../protocol/oidc.ts'
import type { RedirectPattern } from '../../../protocol/redirect-uri.ts'
import { isKnownClient } from '../known-client.ts'
import { beginLogin, type StartedLogin, type StartPorts } from '../start.ts'
import { startAgain } from './find-request.ts'
import { openRequest } from './sealed-request.ts'
import { verifyRedirect } from './verified-redirect.ts'

export interface Restart {
  readonly authRequestId: string
  readonly issuer: Issuer
  readonly allowedRedirects: readonly RedirectPattern[]
  /** The redirect URIs of our own sites, each with where its login begins. */
  readonly ownSites: ReadonlyMap<string, string>
  readonly hasCertificate: boolean
}

/** Throws INVALID_AUTH_REQUEST for an id that we did not seal, or whose request would not be accepted today. */
export function restartLogin(
  ports: StartPorts,
  { authRequestId, issuer, allowedRedirects, ownSites, hasCertificate }: Restart,
): Extract<StartedLogin, { next: 'login' }> | { readonly next: 'own-site'; readonly path: string } {
  const sealed = openRequest(ports.vault, authRequestId)
  if (sealed === undefined) throw startAgain('the id is not one of ours')
  const { ask, browser } = sealed
  // D-10: the login of a program is not continued in a browser.
  if (browser === undefined) throw startAgain('a program began the login')
  if (ask.issuer !== issuer) throw startAgain('the login belongs to another issuer')
  const path = ownSites.get(ask.redirectUri)
  if (path !== undefined) return { next: 'own-site', path }
  const isAllowed =
    isKnownClient(ports, ask.clientId) &&
    verifyRedirect(ports, ask.redirectUri, allowedRedirects) !== undefined
  if (!isAllowed) throw startAgain('the client or its redirect URI is no longer allowed')
  const begun = beginLogin(ports, ask, { isBrowser: true })
  if (begun === undefined) throw startAgain('the request no longer fits into an id')
  return { next: 'login', method: hasCertificate ? 'cert' : 'password', ...begun }
}
