/**
 * How the pages of a listener are shown: each request gets a presentation in its language and with the branding of the
 * operator, and each page is allowed exactly the stylesheet that it has. D-50, D-342, D-343.
 */

import { accountSheet } from '../../web/account/styles.ts'
import { inviteSheet } from '../../web/invite/styles.ts'
import type { PagePolicy } from '../../web/login/content-security-policy.ts'
import {
  type Branding,
  type BrandingSettings,
  brandingOf,
  type Sheet,
} from '../../web/login/look/branding.ts'
import { type Presentation, presentationIn } from '../../web/login/presentation.ts'
import { type Answer, withCookies } from '../answer.ts'
import {
  addressOf,
  choiceCookies,
  languageHeaders,
  languageOf,
  type RequestLine,
} from '../reading/language.ts'

/** Made once for a listener. */
export interface Look {
  readonly branding: Branding
  readonly account: Sheet
  readonly invite: Sheet
}

export function lookOf(settings: BrandingSettings): Look {
  const branding = brandingOf(settings)
  return { branding, account: accountSheet(branding), invite: inviteSheet(branding) }
}

export function presentationOf(request: RequestLine, { branding }: Look): Presentation {
  const address = addressOf(request)
  return presentationIn(languageOf(request), { address, branding })
}

/** Adds to a page what it must say about its language and what it may load. Other answers are returned as they are. */
export function presented(answer: Answer, request: RequestLine, look: Look): Answer {
  const { content } = answer
  // The documentation is kept as bytes, and the console loads its own files: they are in English.
  const isOurs = content?.kind === 'page' && !Buffer.isBuffer(content.html)
  if (!isOurs || content.policy.assets !== undefined) return answer
  const { style } = content.policy
  const policy: PagePolicy = {
    ...content.policy,
    style:
      style === 'account' || style === 'invite'
        ? look[style].source
        : (style ?? look.branding.login.source),
    ...(look.branding.hasLogo ? { images: 'own' } : {}),
  }
  const headers = { ...languageHeaders(request), ...answer.headers }
  const page = { ...answer, headers, content: { ...content, policy } }
  const cookies = choiceCookies(request)
  return cookies.length === 0 ? page : withCookies(page, cookies)
}
