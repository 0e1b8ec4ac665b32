/** The use cases of the management API, wired: the part of `compose.ts` that only administrators reach. API 3.3. */
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { RecordEvent } from '../domain/audit/record.ts'
import { createManageCas } from '../domain/certificates/manage-cas.ts'
import { createManageExternalJwtSigners } from '../domain/ext-jwt/manage.ts'
import type { SignerKeyCache } from '../domain/ext-jwt/signer-keys.ts'
import type { PasswordHashing } from '../domain/factors/hashing.ts'
import { createManageIdentities } from '../domain/identities/manage.ts'
import { createManageAuthenticators } from '../domain/identities/manage-authenticators.ts'
import { createReadIdentities } from '../domain/identities/manage-read.ts'
import { createChangeRules } from '../domain/policies/change-rules.ts'
import { createManageAuthPolicies } from '../domain/policies/manage.ts'
import type { Rules } from '../domain/policies/rules.ts'
import type { EndSessionsWithin } from '../domain/sessions/end-session.ts'
import { createManageSessions } from '../domain/sessions/manage-sessions.ts'
import type { DescribeSession } from '../domain/sessions/session-detail.ts'
import type { Store } from '../domain/stores.ts'
import type { Management } from '../http/management-api/management.ts'
import type { Issuer } from '../protocol/oidc.ts'

export function composeManagement(
  parts: Omit<Store, 'close'> & {
    readonly clock: Clock
    readonly random: Random
    readonly hashing: PasswordHashing
    readonly recordEvent: RecordEvent
    readonly rules: Pick<Rules, 'refresh'>
    readonly endSessionsWithin: EndSessionsWithin
    readonly describeSession: DescribeSession
    readonly signerKeys: Pick<SignerKeyCache, 'status'>
    /** Our own root and issuing CAs, in PEM. */
    readonly ownAnchors: () => readonly string[]
    readonly issuers: () => readonly Issuer[]
    readonly brand: string
    /** `edge.passwords.rejectCommon`. */
    readonly rejectsCommonPasswords: boolean
    /** `edge.externalJwtSigners.fetch.allowHttp`. */
    readonly allowHttp: boolean
  },
): Management {
  const managing = { ...parts, changeRules: createChangeRules(parts) }
  return {
    manageIdentities: createManageIdentities(parts),
    manageAuthenticators: createManageAuthenticators(parts),
    readIdentities: createReadIdentities(parts),
    manageAuthPolicies: createManageAuthPolicies(managing),
    manageExternalJwtSigners: createManageExternalJwtSigners(managing),
    manageCas: createManageCas(managing),
    manageSessions: createManageSessions(parts),
  }
}
