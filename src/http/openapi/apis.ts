/** The two APIs that are described: API 3. */
import { API_PREFIXES, type ApiBinding } from '../edge-api/paths.ts'
import type { DescribedApi } from './document.ts'
import { OF_BOTH_APIS } from './operations/both-apis.ts'
import { OF_THE_CLIENT_API } from './operations/client-api.ts'
import { ENROLLMENTS } from './operations/enrollments.ts'
import { AUTHENTICATORS, IDENTITIES } from './operations/identities.ts'
import { API_SESSIONS, EVENTS, SIGNING_KEYS } from './operations/operating.ts'
import { AUTH_POLICIES, CAS, EXTERNAL_JWT_SIGNERS } from './operations/rules.ts'

export const DESCRIBED_APIS: Readonly<Record<ApiBinding, DescribedApi>> = {
  'edge-client': {
    title: 'Latchkey Edge Client API',
    description: 'What programs and people who log in call.',
    prefix: API_PREFIXES['edge-client'],
    operations: { ...OF_BOTH_APIS, ...OF_THE_CLIENT_API },
  },
  'edge-management': {
    title: 'Latchkey Edge Management API',
    description: 'What administrators call, and what both APIs have in common.',
    prefix: API_PREFIXES['edge-management'],
    operations: {
      ...OF_BOTH_APIS,
      ...IDENTITIES,
      ...AUTHENTICATORS,
      ...ENROLLMENTS,
      ...AUTH_POLICIES,
      ...EXTERNAL_JWT_SIGNERS,
      ...CAS,
      ...API_SESSIONS,
      ...EVENTS,
      ...SIGNING_KEYS,
    },
  },
}
