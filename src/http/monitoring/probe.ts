/** What the addresses that machines ask all the time have in common. */
import type { Route } from '../route.ts'

export const PROBE = {
  method: 'GET',
  access: 'public',
  face: { json: 'api', pages: false },
  cors: 'none',
  reads: [],
  isProbe: true,
} as const satisfies Omit<Route, 'url' | 'replies'>
