/** The addresses of the console's screens, and the menu. A screen gets its entry when it exists. */

export const CONSOLE_PATH = '/console'
export const ASSETS_PATH = `${CONSOLE_PATH}/assets`
export const CONSOLE_SIGN_OUT_PATH = `${CONSOLE_PATH}/sign-out`
export const CONSOLE_CONFIRM_PATH = `${CONSOLE_PATH}/confirm`
export const SEARCH_PATH = `${CONSOLE_PATH}/search`
export const IDENTITIES_PATH = `${CONSOLE_PATH}/identities`
export const INVITE_SCREEN_PATH = `${CONSOLE_PATH}/invite`
export const SESSIONS_PATH = `${CONSOLE_PATH}/sessions`
export const EXPLAIN_PATH = `${CONSOLE_PATH}/explain`
export const AUDIT_PATH = `${CONSOLE_PATH}/audit`
export const STREAM_PATH = `${CONSOLE_PATH}/stream`

export const POLICIES_PATH = `${CONSOLE_PATH}/policies`
export const SIGNERS_PATH = `${CONSOLE_PATH}/signers`
export const CAS_PATH = `${CONSOLE_PATH}/cas`
export const EXPIRY_PATH = `${CONSOLE_PATH}/expiry`
export const ROUTERS_PATH = `${CONSOLE_PATH}/routers`
export const CONFIGURATION_PATH = `${CONSOLE_PATH}/configuration`

export interface MenuEntry {
  readonly path: string
  readonly title: string
}

/** In the order of the menu. */
export const MENU: readonly MenuEntry[] = [
  { path: CONSOLE_PATH, title: 'Overview' },
  { path: IDENTITIES_PATH, title: 'Identities' },
  { path: INVITE_SCREEN_PATH, title: 'Invite' },
  { path: SESSIONS_PATH, title: 'Live sessions' },
  { path: EXPLAIN_PATH, title: 'Why was it refused?' },
  { path: AUDIT_PATH, title: 'Audit' },
  { path: POLICIES_PATH, title: 'Policies' },
  { path: SIGNERS_PATH, title: 'Signers' },
  { path: CAS_PATH, title: 'CAs' },
  { path: EXPIRY_PATH, title: 'Expiry' },
  { path: ROUTERS_PATH, title: 'Routers' },
  { path: CONFIGURATION_PATH, title: 'Configuration' },
]

export const identityPath = (id: string) => `${IDENTITIES_PATH}/${encodeURIComponent(id)}`
export const identityEditPath = (id: string) => `${identityPath(id)}/edit`
export const sessionPath = (id: string) => `${SESSIONS_PATH}/${encodeURIComponent(id)}`
export const eventPath = (id: string) => `${AUDIT_PATH}/events/${encodeURIComponent(id)}`

export type Parameters = Readonly<Record<string, string | number>>

export const sessionsPath = (filter: Parameters) => withQuery(SESSIONS_PATH, filter)
export const auditPath = (filter: Parameters) => withQuery(AUDIT_PATH, filter)
export const explainPath = (requestId: string) => withQuery(EXPLAIN_PATH, { request: requestId })

/** Returns the address with these parameters; empty ones are left out. */
export function withQuery(path: string, parameters: Parameters): string {
  const pairs = Object.entries(parameters).filter(([, value]) => value !== '' && value !== 0)
  const query = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))
  return pairs.length === 0 ? path : `${path}?${query}`
}

export const policyPath = (id: string) => `${POLICIES_PATH}/${encodeURIComponent(id)}`
export const signerPath = (id: string) => `${SIGNERS_PATH}/${encodeURIComponent(id)}`
export const caPath = (id: string) => `${CAS_PATH}/${encodeURIComponent(id)}`
