/**
 * The content security policy of the pages (D-50, R022): nothing is loaded, only our own scripts run, no site may
 * frame them, and forms go only where the login leads.
 */
import { HELPERS_SOURCE } from './look/helpers-script.ts'
import { FORM_POST_SCRIPT_SOURCE } from './pages/form-post-page.ts'
import { STYLESHEET_SOURCE } from './styles.ts'

export interface PagePolicy {
  /** Where forms may lead in addition to our own origin, including redirects. Missing: the page has no form. */
  readonly formAction?: readonly string[]
  /** `form-post` submits the answer of a login; `helpers` makes fields and codes more convenient. */
  readonly script?: 'form-post' | 'helpers'
  /** The hash of the page's stylesheet, or which one it is. Default: that of the login pages. */
  readonly style?: string | 'account'
  /** The page shows the logo of the operator, which we serve (D-343). */
  readonly hasLogo?: boolean
}

const SCRIPT_SOURCES = { 'form-post': FORM_POST_SCRIPT_SOURCE, helpers: HELPERS_SOURCE } as const

/** Returns the value of `Content-Security-Policy`. Throws a TypeError for a source that would end its directive. */
export function contentSecurityPolicy(policy: PagePolicy): string {
  const { formAction, script, style = STYLESHEET_SOURCE, hasLogo = false } = policy
  const bad = formAction?.find((source) => !/^[!-+\--:<-~]+$/.test(source))
  if (bad !== undefined) throw new TypeError(`not a CSP source: ${JSON.stringify(bad)}`)
  return [
    "default-src 'none'",
    `style-src ${style}`,
    ...(script === undefined ? [] : [`script-src ${SCRIPT_SOURCES[script]}`]),
    // The icon is part of the page.
    hasLogo ? "img-src data: 'self'" : 'img-src data:',
    // Chromium applies this directive to redirects after a form too: without the client's source it would block the
    // last redirect.
    `form-action ${formAction === undefined ? "'none'" : ["'self'", ...formAction].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
}
