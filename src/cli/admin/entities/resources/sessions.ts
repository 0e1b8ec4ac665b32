/** API sessions: API 4.7. Nobody makes or changes one; they begin with a login. */
import type { Resource } from '../resource.ts'

export const SESSIONS: Resource = {
  one: 'session',
  many: 'sessions',
  path: '/api-sessions',
  names: ['identity'],
  columns: [
    { title: 'ID', path: 'id' },
    { title: 'IDENTITY', path: 'identity.name' },
    { title: 'KIND', path: 'kind' },
    { title: 'ADDRESS', path: 'ipAddress' },
    { title: 'BEGAN', path: 'createdAt', as: 'time' },
    { title: 'EXPIRES', path: 'expiresAt', as: 'time' },
    { title: 'USER AGENT', path: 'userAgent' },
  ],
  remove: 'End',
}
