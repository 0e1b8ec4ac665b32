/** GET /current-identity, on both APIs: the identity that the token names. API 3.1, 4.1. */
import type { Instant } from '../../../base/time/instant.ts'
import { CurrentIdentityReply } from '../../../contract/current-identity.ts'
import { isDisabled } from '../../../domain/identities/identity.ts'
import type { AuthPolicy } from '../../../domain/policies/auth-policy.ts'
import { currentIdentity, type IdentityDetail } from '../../../domain/sessions/current-session.ts'
import type { SessionPorts } from '../../../domain/sessions/ports.ts'
import { IDENTITY } from '../../../entities/identity.ts'
import { found, reference, selfLink } from '../answers.ts'
import type { Api } from '../api.ts'
import { ownFields } from '../described-body.ts'

export function addCurrentIdentity(api: Api, ports: SessionPorts): void {
  api.add(
    {
      method: 'GET',
      path: '/current-identity',
      access: 'session',
      summary: 'Read your own identity',
      answers: { 200: CurrentIdentityReply },
    },
    async ({ session }) => {
      const detail = await currentIdentity(ports, session)
      return found({
        ...ownFields(IDENTITY, detail.identity),
        ...computedOfIdentity(detail, ports.clock.now()),
        _links: selfLink('current-identity'),
      })
    },
  )
}

/** The fields of every response about an identity besides its stored ones. */
export function computedOfIdentity(
  detail: Pick<IdentityDetail, 'identity' | 'isMfaEnabled'> & {
    readonly policy: Pick<AuthPolicy, 'id' | 'name'>
  },
  now: Instant,
) {
  const { identity, policy, isMfaEnabled } = detail
  return {
    authPolicy: reference('auth-policies', policy),
    isMfaEnabled,
    disabled: isDisabled(identity, now),
  }
}
