/** What the routes of both APIs have in common: a session, the envelope, the configured origins. */
import type { Route } from '../route.ts'

export const API_ROUTE = {
  access: 'session',
  face: { json: 'api', pages: false },
  cors: 'listed',
  reads: [],
} as const satisfies Partial<Route>
