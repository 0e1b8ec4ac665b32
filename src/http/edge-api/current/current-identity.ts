/** GET /current-identity, on both APIs: the identity that the token names. API 3.1, 4.1. */
import type { Clock } from '../../../base/time/clock.ts'
import { type Instant, toRfc3339 } from '../../../base/time/instant.ts'
import type { CurrentIdentity } from '../../../contract/current-identity.ts'
import { isDisabled } from '../../../domain/identities/identity.ts'
import type { CurrentIdentityOf } from '../../../domain/sessions/current-session.ts'
import { json } from '../../answer.ts'
import type { Router } from '../../route.ts'
import { reference, selfLink } from '../links.ts'
import { API_ROUTE } from '../route-defaults.ts'

export function addCurrentIdentity(
  router: Router,
  prefix: string,
  use: { readonly currentIdentity: CurrentIdentityOf; readonly clock: Clock },
): void {
  router.add(
    { ...API_ROUTE, method: 'GET', url: `${prefix}/current-identity`, replies: [200, 401] },
    async ({ session }) => {
      const { identity, policy, isMfaEnabled } = await use.currentIdentity(session)
      const data: CurrentIdentity = {
        id: identity.id,
        createdAt: toRfc3339(identity.createdAt),
        updatedAt: toRfc3339(identity.updatedAt),
        tags: identity.tags,
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
      }
      return json(200, { data, meta: {} })
    },
  )
}

function timeOrNull(at: Instant | undefined): string | null {
  return at === undefined ? null : toRfc3339(at)
}
