/** API sessions: API 4.7. They cannot be created or changed; they begin with a login. */
import { API_SESSION } from '../../../../entities/api-session.ts'
import { tableOf } from '../described-resource.ts'
import type { Resource } from '../resource.ts'

export const SESSIONS: Resource = {
  one: 'session',
  many: 'sessions',
  path: '/api-sessions',
  names: ['identity'],
  columns: tableOf(API_SESSION, [
    'id',
    'identity',
    'kind',
    'ipAddress',
    'createdAt',
    'expiresAt',
    'userAgent',
  ]),
  remove: 'End',
}
