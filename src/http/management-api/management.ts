/** The management API beyond what both APIs have: what an administrator makes, reads and removes. API 3.3. */
import type { Clock } from '../../base/time/clock.ts'
import type { ManageSessions } from '../../domain/management/manage-sessions.ts'
import type { ManagementPorts } from '../../domain/management/ports.ts'
import type { Stores } from '../../domain/stores.ts'
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
  readonly manageSessions: ManageSessions
  readonly manageKeys: ManageKeys
}

export function addManagementApi(
  api: Api,
  ports: ManagementPorts & Pick<Stores, 'events'>,
  use: Management & { readonly clock: Clock },
): void {
  addIdentities(api, ports)
  addAuthenticators(api, ports)
  addAuthPolicies(api, ports)
  addManagedSigners(api, ports)
  addCas(api, ports)
  addApiSessions(api, { manage: use.manageSessions, clock: use.clock })
  addEnrollments(api, ports)
  addEvents(api, ports)
  addSigningKeys(api, { manage: use.manageKeys })
}
