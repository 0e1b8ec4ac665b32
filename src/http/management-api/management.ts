/** The management API beyond what both APIs have: what an administrator makes, reads and removes. API 3.3. */
import type { Clock } from '../../base/time/clock.ts'
import type { ReadEvents } from '../../domain/audit/read-events.ts'
import type { InviteByCa } from '../../domain/certificates/third-party/ca-invitation.ts'
import type { ManageCas } from '../../domain/certificates/third-party/manage-cas.ts'
import type { ManageEnrollments } from '../../domain/enrollments/manage.ts'
import type { ReadEnrollments } from '../../domain/enrollments/read.ts'
import type { CheckSigner } from '../../domain/ext-jwt/check-signer.ts'
import type { ManageExternalJwtSigners } from '../../domain/ext-jwt/manage.ts'
import type { ManageIdentities } from '../../domain/identities/manage.ts'
import type { ManageAuthenticators } from '../../domain/identities/manage-authenticators.ts'
import type { ReadIdentities } from '../../domain/identities/manage-read.ts'
import type { UpdateAuthenticator } from '../../domain/identities/update-authenticator.ts'
import type { UpdateIdentity } from '../../domain/identities/update-identity.ts'
import type { ManageAuthPolicies } from '../../domain/policies/manage.ts'
import type { ManageSessions } from '../../domain/sessions/manage-sessions.ts'
import type { ManageKeys } from '../../domain/tokens/keys/manage-keys.ts'
import type { Api } from '../edge-api/api.ts'
import { addApiSessions } from './api-sessions.ts'
import { addAuthPolicies } from './auth-policies.ts'
import { addAuthenticators } from './authenticators.ts'
import { addCas } from './cas.ts'
import { addEnrollments } from './enrollments.ts'
import { addEvents } from './events.ts'
import { addManagedSigners } from './external-jwt-signers.ts'
import { addIdentities } from './identities.ts'
import { addSigningKeys } from './signing-keys.ts'

export interface Management {
  readonly manageIdentities: ManageIdentities
  readonly updateIdentity: UpdateIdentity
  readonly manageAuthenticators: ManageAuthenticators
  readonly updateAuthenticator: UpdateAuthenticator
  readonly readIdentities: ReadIdentities
  readonly manageAuthPolicies: ManageAuthPolicies
  readonly manageExternalJwtSigners: ManageExternalJwtSigners
  readonly manageCas: ManageCas
  readonly inviteByCa: InviteByCa
  readonly manageSessions: ManageSessions
  readonly manageEnrollments: ManageEnrollments
  readonly readEnrollments: ReadEnrollments
  readonly readEvents: ReadEvents
  readonly checkSigner: CheckSigner
  readonly manageKeys: ManageKeys
}

export function addManagementApi(api: Api, use: Management & { readonly clock: Clock }): void {
  const { clock, readIdentities: read } = use
  addIdentities(api, {
    manage: use.manageIdentities,
    update: use.updateIdentity,
    enrollments: use.manageEnrollments,
    read,
    clock,
  })
  addAuthenticators(api, {
    manage: use.manageAuthenticators,
    update: use.updateAuthenticator,
    read,
    clock,
  })
  addAuthPolicies(api, { manage: use.manageAuthPolicies })
  addManagedSigners(api, { manage: use.manageExternalJwtSigners, check: use.checkSigner })
  addCas(api, { manage: use.manageCas, inviteByCa: use.inviteByCa })
  addApiSessions(api, { manage: use.manageSessions, clock })
  addEnrollments(api, { manage: use.manageEnrollments, read: use.readEnrollments })
  addEvents(api, { read: use.readEvents })
  addSigningKeys(api, { manage: use.manageKeys })
}
