/** The use cases of the management API, for `http`: the part of `compose.ts` that only administrators reach. API 3.3. */

import { findEvent, listEvents } from '../../domain/audit/read-events.ts'
import { inviteByCa } from '../../domain/management/ca-invitation.ts'
import { checkSigner, findCheckedSigner } from '../../domain/management/check-signer.ts'
import {
  createAuthenticator,
  removeAuthenticator,
  unlockAuthenticator,
} from '../../domain/management/manage-authenticators.ts'
import {
  createCa,
  deleteCa,
  findCa,
  listCas,
  updateCa,
  verifyCa,
} from '../../domain/management/manage-cas.ts'
import {
  createEnrollment,
  createEnrollmentWithIdentity,
  deleteEnrollment,
  reEnroll,
  refreshEnrollment,
} from '../../domain/management/manage-enrollments.ts'
import {
  createIdentity,
  deleteIdentity,
  disableIdentity,
  enableIdentity,
  removeMfa,
} from '../../domain/management/manage-identities.ts'
import {
  createPolicy,
  deletePolicy,
  findPolicy,
  listPolicies,
  updatePolicy,
} from '../../domain/management/manage-policies.ts'
import {
  endAllSessions,
  endSessionById,
  endSessionsOf,
  findSession,
  listSessions,
  listSessionsOf,
} from '../../domain/management/manage-sessions.ts'
import {
  createSigner,
  deleteSigner,
  findSigner,
  listSigners,
  updateSigner,
} from '../../domain/management/manage-signers.ts'
import type { ManagementPorts } from '../../domain/management/ports.ts'
import { createReadEnrollments } from '../../domain/management/read-enrollments.ts'
import { createReadIdentities } from '../../domain/management/read-identities.ts'
import { updateAuthenticator } from '../../domain/management/update-authenticator.ts'
import { updateIdentity } from '../../domain/management/update-identity.ts'
import { findKey, listKeys, rotateKeysOnDemand } from '../../domain/tokens/keys/manage-keys.ts'
import type { TokenPorts } from '../../domain/tokens/ports.ts'
import type { Management } from '../../http/management-api/management.ts'
import { withPorts } from './with-ports.ts'

export function composeManagement(ports: ManagementPorts & TokenPorts): Management {
  return {
    ...withPorts(ports, { updateIdentity, updateAuthenticator, inviteByCa }),
    manageIdentities: withPorts(ports, {
      create: createIdentity,
      remove: deleteIdentity,
      disable: disableIdentity,
      enable: enableIdentity,
      removeMfa,
    }),
    manageAuthenticators: withPorts(ports, {
      create: createAuthenticator,
      remove: removeAuthenticator,
      unlock: unlockAuthenticator,
    }),
    manageEnrollments: withPorts(ports, {
      create: createEnrollment,
      createWithIdentity: createEnrollmentWithIdentity,
      refresh: refreshEnrollment,
      remove: deleteEnrollment,
      reEnroll,
    }),
    readEnrollments: createReadEnrollments(ports),
    readIdentities: createReadIdentities(ports),
    manageAuthPolicies: withPorts(ports, {
      find: findPolicy,
      list: listPolicies,
      create: createPolicy,
      update: updatePolicy,
      remove: deletePolicy,
    }),
    manageExternalJwtSigners: withPorts(ports, {
      find: findSigner,
      list: listSigners,
      create: createSigner,
      update: updateSigner,
      remove: deleteSigner,
    }),
    manageCas: withPorts(ports, {
      find: findCa,
      list: listCas,
      create: createCa,
      update: updateCa,
      verify: verifyCa,
      remove: deleteCa,
    }),
    manageSessions: withPorts(ports, {
      list: listSessions,
      listOf: listSessionsOf,
      find: findSession,
      end: endSessionById,
      endAllOf: endSessionsOf,
      endAll: endAllSessions,
    }),
    readEvents: withPorts(ports, { list: listEvents, find: findEvent }),
    checkSigner: withPorts(ports, { find: findCheckedSigner, check: checkSigner }),
    manageKeys: withPorts(ports, { list: listKeys, find: findKey, rotate: rotateKeysOnDemand }),
  }
}
