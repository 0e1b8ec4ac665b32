/** What the routes of the management API have in common: an administrator, and the rest of every API route. API 3.3. */
import { API_ROUTE } from '../edge-api/route-defaults.ts'
import type { Route } from '../route.ts'

const ADMIN_ROUTE = { ...API_ROUTE, access: 'admin' } as const satisfies Partial<Route>

/** Reads, by anybody who may; and changes, which can be in conflict with what is there. */
export const READ = { ...ADMIN_ROUTE, method: 'GET', replies: [200, 401, 403] } as const
export const CREATE = {
  ...ADMIN_ROUTE,
  method: 'POST',
  reads: ['json'],
  replies: [201, 401, 403, 409],
} as const
export const ACT = {
  ...ADMIN_ROUTE,
  method: 'POST',
  reads: ['json'],
  replies: [200, 401, 403, 409],
} as const
/** API 1: PUT replaces, PATCH changes what is present. */
export const REPLACE = {
  ...ADMIN_ROUTE,
  method: 'PUT',
  reads: ['json'],
  replies: [200, 401, 403, 409],
} as const
export const CHANGE = { ...REPLACE, method: 'PATCH' } as const
export const REMOVE = {
  ...ADMIN_ROUTE,
  method: 'DELETE',
  replies: [200, 401, 403, 409],
} as const
