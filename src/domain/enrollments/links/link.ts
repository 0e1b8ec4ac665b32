/**
 * The link of an invitation or a reset: the address of its page, with the token in the fragment (D-376). Browsers send
 * no fragment, so the token is in no access log, no proxy and no Referer.
 */
import { Secret } from '../../../base/secrets/secret.ts'
import { INVITE_PATH, PROVIDER_PREFIX } from '../../../protocol/oidc.ts'
import type { EnrollmentPorts } from '../ports.ts'

/** Prefers the address that the JWT names, so that both lead to the same place. */
export function invitationLink(
  { issuers, clientApi }: Pick<EnrollmentPorts, 'issuers' | 'clientApi'>,
  token: Secret,
): Secret | undefined {
  const bases = issuers().map((issuer) => issuer.slice(0, -PROVIDER_PREFIX.length))
  const base = bases.find((one) => one === clientApi()?.address) ?? bases[0]
  return base === undefined ? undefined : new Secret(`${base}${INVITE_PATH}#${token.reveal()}`)
}
