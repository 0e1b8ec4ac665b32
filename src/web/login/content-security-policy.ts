/**
 * The content security policy of the pages (D-50, R022): nothing is loaded, only our own scripts run, no site may
 * frame them, and forms go only where the login leads.
 */
import { HELPERS_SOURCE } from './look/helpers-script.ts'
import { PASSKEYS_SOURCE } from './look/passkey-script.ts'
import { FORM_POST_SCRIPT_SOURCE } from './pages/form-post-page.ts'
import { STYLESHEET_SOURCE } from './styles.ts'

export interface PagePolicy {
  /** Where forms may lead in addition to our own origin, including redirects. Missing: the page has no form. */
  readonly formAction?: readonly string[]
  /**
   * The hash of the page's one script; `form-post` is that of the response to a client, `helpers` makes fields and codes
   * more convenient, `passkeys` is that and the one for passkeys.
   */
  readonly script?: 'form-post' | 'helpers' | 'passkeys' | `'sha256-${string}'`
  /** The script calls this service. */
  readonly connects?: true
  /** The hash of the page's stylesheet, or which one it is. Default: that of the login pages. */
  readonly style?: string | 'account' | 'invite'
  /** The page loads stylesheets and scripts from our own address, and its scripts call it (D-357). */
  readonly assets?: 'own'
  /** The page also shows pictures from our own address (D-343, D-353). */
  readonly images?: 'own'
}

const isNamed = (script: string): script is keyof typeof SCRIPT_SOURCES => script in SCRIPT_SOURCES

const SCRIPT_SOURCES = {
  'form-post': FORM_POST_SCRIPT_SOURCE,
  helpers: HELPERS_SOURCE,
  passkeys: `${HELPERS_SOURCE} ${PASSKEYS_SOURCE}`,
} as const

/** Returns the value of `Content-Security-Policy`. Throws a TypeError for a source that would end its directive. */
export function contentSecurityPolicy(policy: PagePolicy): string {
  const { formAction, script, connects, style = STYLESHEET_SOURCE, assets, images } = policy
  const bad = formAction?.find((source) => !/^[!-+\--:<-~]+$/.test(source))
  if (bad !== undefined) throw new TypeError(`not a CSP source: ${JSON.stringify(bad)}`)
  return [
    "default-src 'none'",
    ...(assets === undefined
      ? [`style-src ${style}`]
      : ["style-src 'self'", "script-src 'self'", "connect-src 'self'"]),
    ...(script === undefined
      ? []
      : [`script-src ${isNamed(script) ? SCRIPT_SOURCES[script] : script}`]),
    ...(connects === undefined ? [] : ["connect-src 'self'"]),
    // The icon is part of the page.
    images === undefined ? 'img-src data:' : "img-src 'self' data:",
    // Chromium applies this directive to redirects after a form too: without the client's source it would block the
    // last redirect.
    `form-action ${formAction === undefined ? "'none'" : ["'self'", ...formAction].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
}
