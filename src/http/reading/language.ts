/**
 * The language of the pages for one request. First the languages that the application asked for (`ui_locales`, OIDC
 * Core §3.1.2.1), then the one that the user chose with the switch on a page, then `Accept-Language`. D-342.
 */
import { LANGUAGE_PARAMETER } from '../../web/login/layout.ts'
import {
  DEFAULT_LANGUAGE,
  isLanguage,
  LANGUAGES,
  type Language,
} from '../../web/texts/languages.ts'
import { type HeaderFields, hostCookie } from '../answer.ts'
import { cookieOf } from './cookies.ts'
import { preferencesOf } from './negotiation.ts'

/** What is read of a request. */
export interface RequestLine {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Parameters<typeof cookieOf>[0]['headers']
}

/** What the user chose, for a year. */
const CHOSEN = '__Host-latchkey-language'
const CHOSEN_SECONDS = 365 * 24 * 60 * 60
/** What the application asked for, as long as a login can take (D-7). */
const ASKED = '__Host-latchkey-asked-language'
const ASKED_SECONDS = 10 * 60

/** Returns what a page says about its language. */
export function languageHeaders(request: RequestLine): HeaderFields {
  return { 'content-language': languageOf(request), vary: 'Accept, Accept-Language, Cookie' }
}

/** Returns the cookies that remember a choice that was made with the switch. */
export function choiceCookies(request: RequestLine): readonly string[] {
  const chosen = chosenIn(request)
  if (chosen === undefined) return []
  const isAsked = cookieOf(request, ASKED) !== undefined
  return [
    hostCookie(CHOSEN, chosen, CHOSEN_SECONDS),
    ...(isAsked ? [hostCookie(ASKED, '', 0)] : []),
  ]
}

/** The cookie that carries the languages of an authorization request to the pages of its login. */
export function askedLanguageCookie(uiLocales: readonly string[]): readonly string[] {
  const asked = firstKnown(uiLocales[0])
  return asked === undefined ? [] : [hostCookie(ASKED, asked, ASKED_SECONDS)]
}

export function languageOf(request: RequestLine): Language {
  return (
    chosenIn(request) ??
    firstKnown(cookieOf(request, ASKED)) ??
    firstKnown(cookieOf(request, CHOSEN)) ??
    firstKnown(preferencesOf(request).language(Object.keys(LANGUAGES))) ??
    DEFAULT_LANGUAGE
  )
}

/** The language that the address of the page names. */
function chosenIn({ method, url = '' }: RequestLine): Language | undefined {
  if (!isRead(method)) return undefined
  const values = pairsOf(url)
    .filter((pair) => pair.startsWith(SWITCH))
    .map((pair) => pair.slice(SWITCH.length))
  return firstKnown(values[0]?.replaceAll(/\+|%20/g, ' '))
}

/** Returns the address of this page without the switch; undefined if it is not a page that GET shows again. */
export function addressOf({ method, url = '' }: RequestLine): string | undefined {
  // A path that starts with two slashes would be a link to another host.
  if (!isRead(method) || !/^\/(?![/\\])/.test(url)) return undefined
  const [path = ''] = url.split('?', 1)
  const query = pairsOf(url).filter((pair) => !pair.startsWith(SWITCH))
  return query.length === 0 ? path : `${path}?${query.join('&')}`
}

const SWITCH = `${LANGUAGE_PARAMETER}=`

const isRead = (method: string | undefined) => method === 'GET' || method === 'HEAD'

function pairsOf(url: string): readonly string[] {
  const mark = url.indexOf('?')
  return mark < 0
    ? []
    : url
        .slice(mark + 1)
        .split('&')
        .filter((pair) => pair !== '')
}

/** The first tag whose language we have, in any region: `de-CH` is `de`. */
function firstKnown(tags: string | undefined): Language | undefined {
  if (tags === undefined || tags.length > LONGEST_TAGS) return undefined
  return tags
    .split(' ')
    .map((tag) => tag.split('-', 1)[0]?.toLowerCase() ?? '')
    .find(isLanguage)
}

/** More than any application asks for. */
const LONGEST_TAGS = 200
