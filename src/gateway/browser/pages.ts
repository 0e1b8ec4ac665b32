/**
 * What browsers see of the gateway: one page for each of its answers, in the language of the reader. They load nothing,
 * and no site can frame them. D-50, D-342.
 */

import { type GatewayPage, gatewayPage } from '../../web/gateway/message-page.ts'
import { contentSecurityPolicy } from '../../web/login/content-security-policy.ts'
import { html } from '../../web/login/html.ts'
import { type Presentation, presentationIn } from '../../web/login/presentation.ts'
import type { TextKey } from '../../web/texts/en.ts'
import { DEFAULT_LANGUAGE, isLanguage, type Language } from '../../web/texts/languages.ts'
import type { AnswerCode } from '../http/answers.ts'
import { type Field, onlyValue } from '../http/fields.ts'
import { type BrowserAnswer, safeTarget, type Visit } from './visit.ts'

const SIGN_IN_PATH = '/.latchkey/sign-in'
const SIGN_OUT_PATH = '/.latchkey/sign-out'

/** RFC 9111 §5.2.2.5, and nothing of the address in a Referer: it may have a code in it. */
export const NOT_STORED: readonly Field[] = [
  ['cache-control', 'no-store'],
  ['referrer-policy', 'no-referrer'],
]

function pageAnswer(
  visit: Visit,
  status: number,
  write: (presentation: Presentation) => GatewayPage,
  more: readonly Field[] = [],
): BrowserAnswer {
  const presentation = presentationIn(languageOf(visit))
  const page = write(presentation)
  const body = gatewayPage(presentation, page).toString()
  return {
    status,
    body,
    fields: [
      ['content-type', 'text/html; charset=utf-8'],
      ['content-language', presentation.language],
      ['vary', 'accept-language, cookie, sec-fetch-mode, sec-fetch-dest, accept'],
      [
        'content-security-policy',
        contentSecurityPolicy(page.button === undefined ? {} : { formAction: [] }),
      ],
      ['x-content-type-options', 'nosniff'],
      ['cross-origin-opener-policy', 'same-origin'],
      ...NOT_STORED,
      ...more,
    ],
  }
}

/** Title and message, by why a browser is refused, as far as its user can do something about it. */
const TEXTS = {
  'no-access': ['gateway.noAccess.title', 'gateway.noAccess.message'],
  'too-old': ['gateway.again.title', 'gateway.again.old'],
  'too-weak': ['gateway.again.title', 'gateway.again.weak'],
  'not-here': ['gateway.notHere.title', 'gateway.notHere.message'],
  'sign-in-failed': ['gateway.signInFailed.title', 'gateway.signInFailed.message'],
  'sign-in-refused': ['gateway.signInFailed.title', 'gateway.signInRefused.message'],
  unavailable: ['gateway.unavailable.title', 'gateway.unavailable.message'],
  unreachable: ['gateway.unreachable.title', 'gateway.unreachable.message'],
  blocked: ['gateway.blocked.title', 'gateway.blocked.message'],
  nothing: ['gateway.nothing.title', 'gateway.nothing.message'],
  refused: ['gateway.refused.title', 'gateway.refused.message'],
} as const satisfies Record<string, readonly [title: TextKey, message: TextKey]>
export type PageReason = keyof typeof TEXTS

/** `target`: where the user wanted to go. */
export function refusalPage(
  visit: Visit,
  status: number,
  reason: PageReason,
  target: string,
  more: readonly Field[] = [],
): BrowserAnswer {
  const [title, message] = TEXTS[reason]
  return pageAnswer(
    visit,
    status,
    ({ say }) => {
      // The texts of refusals have no names in braces.
      const text = say as (key: TextKey) => string
      return {
        title: text(title),
        message: text(message),
        requestId: visit.requestId,
        // Of the request, so it may be `//elsewhere`.
        ...waysOn(text, reason, safeTarget(target, visit.origin)),
      }
    },
    more,
  )
}

function waysOn(
  say: (key: TextKey) => string,
  reason: PageReason,
  target: string,
): Partial<GatewayPage> {
  switch (reason) {
    case 'too-old':
    case 'too-weak': {
      const to = `${SIGN_IN_PATH}?again=1&to=${encodeURIComponent(target)}`
      return { link: { to, label: say('gateway.again.submit') } }
    }
    case 'no-access':
    case 'not-here':
      return { instead: { to: SIGN_OUT_PATH, label: say('gateway.noAccess.signOut') } }
    case 'sign-in-failed':
    case 'sign-in-refused':
    case 'unavailable':
    case 'unreachable':
      return { link: { to: target, label: say('gateway.tryAgain') } }
    case 'blocked':
    case 'nothing':
    case 'refused':
      return { instead: { to: '/', label: say('gateway.toStart') } }
  }
}

/** The page for an answer of the gateway that is not about signing in. */
export function reasonOf(code: AnswerCode): PageReason {
  switch (code) {
    case 'NOT_READY':
      return 'unavailable'
    case 'BAD_GATEWAY':
    case 'GATEWAY_TIMEOUT':
      return 'unreachable'
    case 'CROSS_SITE':
      return 'blocked'
    case 'NOT_FOUND':
    case 'NO_UPSTREAM':
      return 'nothing'
    case 'FORBIDDEN':
    case 'IDENTITY_NOT_ALLOWED':
    case 'POLICY_NOT_ALLOWED':
    case 'ROLE_REQUIRED':
    case 'ROLES_UNKNOWN':
      return 'no-access'
    // D-404: signing in again can help.
    case 'FACTOR_REQUIRED':
      return 'too-weak'
    case 'LOGIN_TOO_OLD':
      return 'too-old'
    default:
      return 'refused'
  }
}

export function signOutPage(visit: Visit, name: string): BrowserAnswer {
  return pageAnswer(visit, 200, ({ say, fill }) => ({
    title: say('signOut.title'),
    message: html`${fill('gateway.signOut.message', {
      host: html`<bdi>${hostOf(visit)}</bdi>`,
      name: html`<strong><bdi>${name}</bdi></strong>`,
    })}`,
    button: { action: SIGN_OUT_PATH, label: say('signOut.submit') },
    instead: { to: '/', label: say('signOut.stay') },
  }))
}

export function signedOutPage(visit: Visit, more: readonly Field[]): BrowserAnswer {
  return pageAnswer(
    visit,
    200,
    ({ say }) => ({
      title: say('signedOut.title'),
      message: say('gateway.signedOut.message', { host: hostOf(visit) }),
      instead: { to: '/', label: say('signedOut.again') },
    }),
    more,
  )
}

const hostOf = ({ origin }: Visit) => new URL(origin).host

const LONGEST_FIELD = 1_000

/** The first language of the field that we have: browsers write the preferred one first. */
function languageOf(visit: Visit): Language {
  const field = onlyValue(visit.fields, 'accept-language') ?? ''
  const tags = field.slice(0, LONGEST_FIELD).split(',')
  const languages = tags.map((tag) => (/^\s*([a-z]{2})\b/i.exec(tag)?.[1] ?? '').toLowerCase())
  return languages.find(isLanguage) ?? DEFAULT_LANGUAGE
}
