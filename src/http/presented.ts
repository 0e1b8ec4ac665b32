/**
 * How the pages of a listener are shown: each request gets a presentation in its language and with the branding of the
 * operator, and each page is allowed exactly the stylesheet that it has. D-50, D-342, D-343.
 */
import { accountSheet } from '../web/account/styles.ts'
import {
  type Branding,
  type BrandingSettings,
  brandingOf,
  type Sheet,
} from '../web/login/look/branding.ts'
import { type Presentation, presentationIn } from '../web/login/presentation.ts'
import { type Answer, withCookies } from './answer.ts'
import {
  addressOf,
  choiceCookies,
  languageHeaders,
  languageOf,
  type RequestLine,
} from './reading/language.ts'

/** Made once for a listener. */
export interface Look {
  readonly branding: Branding
  readonly account: Sheet
}

export function lookOf(settings: BrandingSettings): Look {
  const branding = brandingOf(settings)
  return { branding, account: accountSheet(branding) }
}

export function presentationOf(request: RequestLine, { branding }: Look): Presentation {
  const address = addressOf(request)
  return presentationIn(languageOf(request), { address, branding })
}

/** Adds to a page what it must say about its language and what it may load. Other answers are returned as they are. */
export function presented(answer: Answer, request: RequestLine, look: Look): Answer {
  const { content } = answer
  // Only the reference of an API is kept as bytes: it is in English and has its own stylesheet.
  if (content?.kind !== 'page' || Buffer.isBuffer(content.html)) return answer
  const { style } = content.policy
  const sources = { login: look.branding.login.source, account: look.account.source }
  const policy = {
    ...content.policy,
    style: style === 'account' ? sources.account : (style ?? sources.login),
    hasLogo: look.branding.hasLogo,
  }
  const headers = { ...languageHeaders(request), ...answer.headers }
  const page = { ...answer, headers, content: { ...content, policy } }
  const cookies = choiceCookies(request)
  return cookies.length === 0 ? page : withCookies(page, cookies)
}
