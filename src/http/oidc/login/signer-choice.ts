/**
 * The signers that the pages link to for getting a JWT: D-47, D-157. A signer without a login address, or without a
 * client id for us, is not offered; the application has to bring such a token itself.
 */
import { offered } from '../../../domain/ext-jwt/idp/endpoints.ts'
import type { ExternalJwtSigner } from '../../../domain/ext-jwt/signer.ts'
import { keepPrimary } from '../../../domain/login/external/kept-primary.ts'
import type { ExternalRole } from '../../../domain/login/external/round-trip.ts'
import type { LoginPorts } from '../../../domain/login/ports.ts'
import type { OpenRequest } from '../../../domain/login/request/find-request.ts'
import type { Rules } from '../../../domain/policies/rules.ts'
import type { SafeHtml } from '../../../web/login/html.ts'
import { extJwtPage } from '../../../web/login/pages/ext-jwt-page.ts'
import { secondProofPage } from '../../../web/login/pages/second-proof-page.ts'
import type { Presentation } from '../../../web/login/presentation.ts'
import type { SignerChoice } from '../../../web/login/signer-links.ts'
import type { Call } from '../../call.ts'
import { PATHS } from '../paths.ts'
import { during, identified } from './during.ts'
import type { FetchJwt } from './login-step.ts'

/** D-157: the most signers that the password page lists; the separate page lists all of them. */
const MOST_SHOWN = 8

type Known = Pick<Rules, 'signers'>

export function choiceOf(rules: Known, authRequestId: string): SignerChoice {
  const all = links(rules, authRequestId)
  const isWhole = all.length <= MOST_SHOWN
  const page = `${PATHS.loginExtJwt}?authRequestID=${encodeURIComponent(authRequestId)}`
  return { links: all.slice(0, MOST_SHOWN), ...(isWhole ? {} : { more: page }) }
}

export function choicePage(
  presentation: Presentation,
  rules: Known,
  authRequestId: string,
  error?: string,
): SafeHtml {
  const choice = { links: links(rules, authRequestId) }
  const accepted = rules.signers().filter(({ enabled }) => enabled)
  const names = accepted.map(({ name }) => name)
  return extJwtPage(presentation, { authRequestId, choice, names, error })
}

export function secondPage(
  presentation: Presentation,
  signer: Pick<ExternalJwtSigner, 'id' | 'name'>,
  authRequestId: string,
  error?: string,
): SafeHtml {
  const { name } = signer
  const url = startUrl(signer, authRequestId, 'secondary')
  return secondProofPage(presentation, { link: { name, url }, error })
}

/** D-156: sends a browser to the signer of the required token, and keeps the factors proven so far for the return. */
export function fetchJwtFrom(
  ports: LoginPorts,
  call: Pick<Call, 'presentation'>,
  found: OpenRequest,
  authRequestId: string,
  error?: string,
): FetchJwt {
  return async (demanded) => {
    const to = offered(demanded.signer)
    if (to === undefined || found.browser === undefined) return undefined
    const { identityId } = demanded.kept.primary
    const shown = await identified(ports, during(call, found), { identityId, authRequestId })
    return {
      cookie: await keepPrimary(ports, demanded, found.key),
      html: secondPage(shown, to, authRequestId, error),
    }
  }
}

function links(rules: Known, authRequestId: string): SignerChoice['links'] {
  return rules
    .signers()
    .filter((signer) => offered(signer) !== undefined)
    .map((signer) => ({ name: signer.name, url: startUrl(signer, authRequestId, 'primary') }))
}

function startUrl(
  { id }: Pick<ExternalJwtSigner, 'id'>,
  authRequestId: string,
  role: ExternalRole,
): string {
  const parameters = new URLSearchParams({ signer: id, authRequestID: authRequestId })
  if (role === 'secondary') parameters.set('factor', role)
  return `${PATHS.extJwtStart}?${parameters}`
}
