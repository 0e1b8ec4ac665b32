/** GET /current-identity, on both APIs: the identity that the token names. API 3.1, 4.1. */
import type { Clock } from '../../../base/time/clock.ts'
import { CurrentIdentityReply } from '../../../contract/current-identity.ts'
import { isDisabled } from '../../../domain/identities/identity.ts'
import type { CurrentIdentityOf } from '../../../domain/sessions/current-session.ts'
import { entity, found, reference, selfLink, timeOrNull } from '../answers.ts'
import type { Api } from '../api.ts'

export function addCurrentIdentity(
  api: Api,
  use: { readonly currentIdentity: CurrentIdentityOf; readonly clock: Clock },
): void {
  api.add(
    {
      method: 'GET',
      path: '/current-identity',
      access: 'session',
      summary: 'Read your own identity',
      answers: { 200: CurrentIdentityReply },
    },
    async ({ session }) => {
      const { identity, policy, isMfaEnabled } = await use.currentIdentity(session)
      return found({
        ...entity('identities', identity),
        _links: selfLink('current-identity'),
        name: identity.name,
        type: identity.type,
        isAdmin: identity.isAdmin,
        externalId: identity.externalId ?? null,
        authPolicyId: policy.id,
        authPolicy: reference('auth-policies', policy),
        roleAttributes: [...identity.roleAttributes],
        appData: identity.appData,
        isMfaEnabled,
        disabled: isDisabled(identity, use.clock.now()),
        disabledAt: timeOrNull(identity.disabledAt),
        disabledUntil: timeOrNull(identity.disabledUntil),
      })
    },
  )
}
