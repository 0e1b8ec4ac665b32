/** The presentation of the pages of one login: who is signing in to what (D-346). */
import { isLoopbackHost, withoutBrackets } from '../../../base/host-port.ts'
import type { IdentityId } from '../../../base/ids.ts'
import type { LoginPorts } from '../../../domain/login/ports.ts'
import type { ClientAsk } from '../../../domain/login/request/auth-request.ts'
import { PROVIDER_PREFIX } from '../../../protocol/oidc.ts'
import { ACCOUNT_PATH } from '../../../web/account/layout.ts'
import { CONSOLE_PATH } from '../../../web/console/navigation.ts'
import { DEVICE_PATH } from '../../../web/device/paths.ts'
import type { Presentation, SigningIn } from '../../../web/login/presentation.ts'
import type { Call } from '../../call.ts'

/** Where our own sites are, which are clients too (D-161). */
export const OWN_SITES = {
  account: ACCOUNT_PATH,
  console: CONSOLE_PATH,
  otherDevice: DEVICE_PATH,
} as const

type Ask = Pick<ClientAsk, 'redirectUri' | 'issuer'>

export function during(
  { presentation }: Pick<Call, 'presentation'>,
  { ask }: { ask: Ask },
): Presentation {
  return { ...presentation, signingIn: { to: targetOf(ask) } }
}

/** Adds the name of the identity whose first factor is proven. */
export async function identified(
  { identities }: Pick<LoginPorts, 'identities'>,
  presentation: Presentation,
  {
    identityId,
    authRequestId,
  }: { readonly identityId: IdentityId; readonly authRequestId: string },
): Promise<Presentation> {
  const { signingIn } = presentation
  const name = (await identities.find(identityId))?.name
  if (signingIn === undefined || name === undefined) return presentation
  return { ...presentation, signingIn: { ...signingIn, as: { name, authRequestId } } }
}

/** For a login whose first factor is proven. */
export function partly(
  ports: Pick<LoginPorts, 'identities'>,
  call: Pick<Call, 'presentation'>,
  found: { readonly ask: Ask; readonly primary: { readonly identityId: IdentityId } },
  authRequestId: string,
): Promise<Presentation> {
  const { identityId } = found.primary
  return identified(ports, during(call, found), { identityId, authRequestId })
}

/** Where the user goes afterwards. */
export function targetOf({ redirectUri, issuer }: Ask): SigningIn['to'] {
  const base = issuer.endsWith(PROVIDER_PREFIX) ? issuer.slice(0, -PROVIDER_PREFIX.length) : issuer
  const own = (['account', 'console', 'otherDevice'] as const).find(
    (site) => redirectUri === `${base}${OWN_SITES[site]}/callback`,
  )
  if (own !== undefined) return { kind: own }
  const url = URL.parse(redirectUri)
  const isSite = url?.protocol === 'https:' && !isLoopbackHost(withoutBrackets(url.hostname))
  return isSite ? { kind: 'site', host: url.host } : { kind: 'device' }
}
