/** The part of the management API that the other API does not have: what administrators manage. API 3.3. */
import type { ManagementPorts } from '../../domain/management/ports.ts'
import type { OverviewPorts } from '../../domain/overview/ports.ts'
import type { LedgerPorts } from '../../domain/sessions/confirming/session-ledger.ts'
import type { Stores } from '../../domain/stores.ts'
import type { TokenPorts } from '../../domain/tokens/ports.ts'
import type { Api } from '../edge-api/api.ts'
import { addApiSessions } from './api-sessions.ts'
import { addAuthenticators } from './authenticators.ts'
import { addConfirmations } from './confirmations.ts'
import { addEnrollments } from './enrollments.ts'
import { addEvents } from './events.ts'
import { addIdentities } from './identities.ts'
import { addOverview } from './overview.ts'
import { addPasskeys } from './passkeys.ts'
import { addAuthPolicies } from './rules/auth-policies.ts'
import { addCas } from './rules/cas.ts'
import { addManagedSigners } from './rules/external-jwt-signers.ts'
import { addPolicyWhatIf } from './rules/policy-what-if.ts'
import { addSigningKeys } from './signing-keys.ts'

export function addManagementApi(
  api: Api,
  ports: ManagementPorts & TokenPorts & OverviewPorts & LedgerPorts & Pick<Stores, 'events'>,
): void {
  addIdentities(api, ports)
  addAuthenticators(api, ports)
  addPasskeys(api, ports)
  addAuthPolicies(api, ports)
  addPolicyWhatIf(api, ports)
  addManagedSigners(api, ports)
  addCas(api, ports)
  addApiSessions(api, ports)
  addConfirmations(api, ports)
  addEnrollments(api, ports)
  addEvents(api, ports)
  addSigningKeys(api, ports)
  addOverview(api, ports)
}
