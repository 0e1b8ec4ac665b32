/** An identity as the console lists it. */
import type { Instant } from '../../../base/time/instant.ts'
import { isOpen } from '../../../domain/enrollments/enrollment.ts'
import { lockEnd } from '../../../domain/identities/authenticator.ts'
import { isDisabled } from '../../../domain/identities/identity.ts'
import type { IdentityDetail } from '../../../domain/management/read-identities.ts'
import type { ListedIdentity } from '../../../web/console/identities/identities-page.ts'

export function shownIdentity(detail: IdentityDetail, now: Instant): ListedIdentity {
  const { identity, authenticators, enrollments } = detail
  const { id, name, isAdmin, type, lastLoginAt, externalId } = identity
  return {
    id,
    name,
    isAdmin,
    isRouter: type === 'Router',
    isDisabled: isDisabled(identity, now),
    isLocked: authenticators.some((one) => lockEnd(one, now) !== undefined),
    isInvited: enrollments.some((enrollment) => isOpen(enrollment, now)),
    hasSession: detail.hasApiSession,
    hasSecondFactor: detail.isMfaEnabled,
    methods: [
      ...authenticators.map(({ method }) => (method === 'updb' ? 'password' : 'certificate')),
      ...(externalId === undefined ? [] : ['external account']),
    ],
    policy: detail.policy.name,
    lastLoginAt,
  }
}
