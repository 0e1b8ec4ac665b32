/** The management API beyond what both APIs have: what an administrator makes, reads and removes. API 3.3. */
import type { Clock } from '../../base/clock.ts'
import type { ManageCas } from '../../domain/certificates/manage-cas.ts'
import type { ManageExternalJwtSigners } from '../../domain/ext-jwt/manage.ts'
import type { ManageIdentities } from '../../domain/identities/manage.ts'
import type { ManageAuthenticators } from '../../domain/identities/manage-authenticators.ts'
import type { ReadIdentities } from '../../domain/identities/manage-read.ts'
import type { ManageAuthPolicies } from '../../domain/policies/manage.ts'
import type { ManageSessions } from '../../domain/sessions/manage-sessions.ts'
import type { Router } from '../route.ts'
import { addApiSessions } from './api-sessions.ts'
import { addAuthPolicies } from './auth-policies.ts'
import { addAuthenticators } from './authenticators.ts'
import { addCas } from './cas.ts'
import { addManagedSigners } from './external-jwt-signers.ts'
import { addIdentities } from './identities.ts'

export interface Management {
  readonly manageIdentities: ManageIdentities
  readonly manageAuthenticators: ManageAuthenticators
  readonly readIdentities: ReadIdentities
  readonly manageAuthPolicies: ManageAuthPolicies
  readonly manageExternalJwtSigners: ManageExternalJwtSigners
  readonly manageCas: ManageCas
  readonly manageSessions: ManageSessions
}

export function addManagementApi(
  router: Router,
  prefix: string,
  use: Management & { readonly clock: Clock },
): void {
  const { clock, readIdentities: read } = use
  addIdentities(router, prefix, { manage: use.manageIdentities, read, clock })
  addAuthenticators(router, prefix, { manage: use.manageAuthenticators, read, clock })
  addAuthPolicies(router, prefix, { manage: use.manageAuthPolicies })
  addManagedSigners(router, prefix, { manage: use.manageExternalJwtSigners })
  addCas(router, prefix, { manage: use.manageCas })
  addApiSessions(router, prefix, { manage: use.manageSessions, clock })
}
