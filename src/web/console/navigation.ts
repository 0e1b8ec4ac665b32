/** The addresses of the console's screens, and the menu. A screen gets its entry when it exists. */

export const CONSOLE_PATH = '/console'
export const ASSETS_PATH = `${CONSOLE_PATH}/assets`
export const CONSOLE_SIGN_OUT_PATH = `${CONSOLE_PATH}/sign-out`
export const CONSOLE_CONFIRM_PATH = `${CONSOLE_PATH}/confirm`
export const SEARCH_PATH = `${CONSOLE_PATH}/search`
export const IDENTITIES_PATH = `${CONSOLE_PATH}/identities`

export interface MenuEntry {
  readonly path: string
  readonly title: string
}

/** In the order of the menu. */
export const MENU: readonly MenuEntry[] = [{ path: IDENTITIES_PATH, title: 'Identities' }]

export const identityPath = (id: string) => `${IDENTITIES_PATH}/${encodeURIComponent(id)}`
