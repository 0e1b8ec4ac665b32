/** Where the two APIs are: SPEC Versioning 1. */
export const API_PREFIXES = {
  'edge-client': '/edge/client/v1',
  'edge-management': '/edge/management/v1',
} as const
export type ApiBinding = keyof typeof API_PREFIXES
