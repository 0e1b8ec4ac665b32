/**
 * The content security policy of the pages (D-50, R022): nothing is loaded, nothing runs but the one known
 * script, nobody may frame them, and forms go only where the login leads.
 */
import { FORM_POST_SCRIPT_SOURCE } from './pages/form-post-page.ts'
import { STYLESHEET_SOURCE } from './styles.ts'

export interface PagePolicy {
  /** Where forms of the page may lead besides our own origin, redirects included. Left out: the page has none. */
  readonly formAction?: readonly string[]
  readonly script?: 'form-post'
  /** The hash of the page's stylesheet. Left out: that of the login pages. */
  readonly style?: string
}

/** The value of `Content-Security-Policy`. A source that would end its directive is a mistake: TypeError. */
export function contentSecurityPolicy(policy: PagePolicy): string {
  const { formAction, script, style = STYLESHEET_SOURCE } = policy
  const bad = formAction?.find((source) => !/^[!-+\--:<-~]+$/.test(source))
  if (bad !== undefined) throw new TypeError(`not a CSP source: ${JSON.stringify(bad)}`)
  return [
    "default-src 'none'",
    `style-src ${style}`,
    ...(script === undefined ? [] : [`script-src ${FORM_POST_SCRIPT_SOURCE}`]),
    // The icon is part of the page.
    'img-src data:',
    // Chromium holds redirects that follow a form to this directive too: without the client's source it
    // would block the way back.
    `form-action ${formAction === undefined ? "'none'" : ["'self'", ...formAction].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
}
