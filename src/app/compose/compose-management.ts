/** The use cases of the management API, wired: the part of `compose.ts` that only administrators reach. API 3.3. */

import type { Random } from '../../base/secrets/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { createReadEvents } from '../../domain/audit/read-events.ts'
import type { RecordEvent } from '../../domain/audit/record.ts'
import type { InviteByCa } from '../../domain/certificates/third-party/ca-invitation.ts'
import { createManageCas } from '../../domain/certificates/third-party/manage-cas.ts'
import type { Invite } from '../../domain/enrollments/invite.ts'
import { createManageEnrollments } from '../../domain/enrollments/manage.ts'
import { createReadEnrollments } from '../../domain/enrollments/read.ts'
import { createCheckSigner } from '../../domain/ext-jwt/check-signer.ts'
import { createManageExternalJwtSigners } from '../../domain/ext-jwt/manage.ts'
import type { SignerKeyCache } from '../../domain/ext-jwt/signer-keys.ts'
import type { HashNewPassword } from '../../domain/factors/new-password.ts'
import { createManageIdentities } from '../../domain/identities/manage.ts'
import { createManageAuthenticators } from '../../domain/identities/manage-authenticators.ts'
import { createReadIdentities } from '../../domain/identities/manage-read.ts'
import { createUpdateAuthenticator } from '../../domain/identities/update-authenticator.ts'
import { createUpdateIdentity } from '../../domain/identities/update-identity.ts'
import { createChangeRules } from '../../domain/policies/change-rules.ts'
import { createManageAuthPolicies } from '../../domain/policies/manage.ts'
import type { Rules } from '../../domain/policies/rules.ts'
import type { EndSessionsWithin } from '../../domain/sessions/ending/end-session.ts'
import type { ManageSessions } from '../../domain/sessions/manage-sessions.ts'
import type { Store } from '../../domain/stores.ts'
import type { ManageKeys } from '../../domain/tokens/keys/manage-keys.ts'
import type { Management } from '../../http/management-api/management.ts'
import type { Issuer } from '../../protocol/oidc.ts'

export function composeManagement(
  parts: Omit<Store, 'close'> & {
    readonly clock: Clock
    readonly random: Random
    readonly hashNewPassword: HashNewPassword
    readonly invite: Invite
    readonly inviteByCa: InviteByCa
    readonly recordEvent: RecordEvent
    readonly rules: Pick<Rules, 'refresh' | 'policy' | 'signer'>
    readonly endSessionsWithin: EndSessionsWithin
    readonly manageSessions: ManageSessions
    readonly signerKeys: Pick<SignerKeyCache, 'status' | 'keyFor'>
    readonly manageKeys: ManageKeys
    /** Our own root and issuing CAs, in PEM. */
    readonly ownAnchors: () => readonly string[]
    readonly issuers: () => readonly Issuer[]
    /** `edge.externalJwtSigners.fetch.allowHttp`. */
    readonly allowHttp: boolean
  },
): Management {
  const managing = { ...parts, changeRules: createChangeRules(parts) }
  const manageIdentities = createManageIdentities(parts)
  const manageAuthenticators = createManageAuthenticators(parts)
  return {
    manageIdentities,
    manageAuthenticators,
    manageEnrollments: createManageEnrollments({
      ...parts,
      manageIdentities,
      manageAuthenticators,
    }),
    readEnrollments: createReadEnrollments(parts),
    updateIdentity: createUpdateIdentity(parts),
    updateAuthenticator: createUpdateAuthenticator(parts),
    readIdentities: createReadIdentities(parts),
    manageAuthPolicies: createManageAuthPolicies(managing),
    manageExternalJwtSigners: createManageExternalJwtSigners(managing),
    manageCas: createManageCas(managing),
    inviteByCa: parts.inviteByCa,
    manageSessions: parts.manageSessions,
    readEvents: createReadEvents(parts),
    checkSigner: createCheckSigner(parts),
    manageKeys: parts.manageKeys,
  }
}
