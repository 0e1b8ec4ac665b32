/** The management API beyond what both APIs have: what an administrator makes, reads and removes. API 3.3. */
import type { Clock } from '../../base/time/clock.ts'
import type { ReadEvents } from '../../domain/audit/read-events.ts'
import type { InviteByCa } from '../../domain/management/ca-invitation.ts'
import type { CheckSigner } from '../../domain/management/check-signer.ts'
import type { ManageAuthenticators } from '../../domain/management/manage-authenticators.ts'
import type { ManageCas } from '../../domain/management/manage-cas.ts'
import type { ManageEnrollments } from '../../domain/management/manage-enrollments.ts'
import type { ManageIdentities } from '../../domain/management/manage-identities.ts'
import type { ManageAuthPolicies } from '../../domain/management/manage-policies.ts'
import type { ManageSessions } from '../../domain/management/manage-sessions.ts'
import type { ManageExternalJwtSigners } from '../../domain/management/manage-signers.ts'
import type { ReadEnrollments } from '../../domain/management/read-enrollments.ts'
import type { ReadIdentities } from '../../domain/management/read-identities.ts'
import type { UpdateAuthenticator } from '../../domain/management/update-authenticator.ts'
import type { UpdateIdentity } from '../../domain/management/update-identity.ts'
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
