/**
 * The frame of every page of the console: menu, search, who is signed in, and the notice after a change. It works
 * without scripts; htmx and our own modules make it lively (D-357).
 */
import { type FormToken, form } from '../account/layout.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { htmlDocument, ICON, MARK } from '../login/layout.ts'
import type { ShownEnd } from '../login/pages/shown-end.ts'
import {
  ASSETS_PATH,
  CONSOLE_CONFIRM_PATH,
  CONSOLE_PATH,
  CONSOLE_SIGN_OUT_PATH,
  MENU,
  SEARCH_PATH,
} from './navigation.ts'
import { CONSOLE_NOTES, type ConsoleNote } from './notes.ts'

export const CONSOLE_TITLE = 'Latchkey console'

/** What all pages share. */
export interface ConsoleFrame {
  /** The administrator who is signed in. */
  readonly name: string
  readonly formToken: FormToken
  /** What has just happened: shown once, with the focus (D-182). */
  readonly note: ConsoleNote | undefined
  /** How far the end has got of what the last form ended (D-363). */
  readonly end?: ShownEnd | undefined
  /** Whether changes are possible without signing in again (D-356). */
  readonly isFresh: boolean
  /** The address of this page, to come back to. */
  readonly here: string
}

/** Why a form was refused. */
export interface Refusal {
  readonly message: string
  /** The id of the field that it is about; it has the message too. */
  readonly field: string | undefined
}

export interface ConsoleLayout {
  /** The path of the menu entry that this page belongs to; undefined for none. */
  readonly section?: string
  /** The heading. */
  readonly title: string
  /** Beside the heading: what the page is about, or its main buttons. */
  readonly lead?: SafeHtml | undefined
  readonly content: SafeHtml
  /** Why the last attempt failed. */
  readonly error?: string | Refusal | undefined
  /** The text in the search box. */
  readonly searched?: string
}

export function consoleLayout(frame: ConsoleFrame, page: ConsoleLayout): SafeHtml {
  const { name, formToken } = frame
  const { section, title, lead, content, error, searched = '' } = page
  const entries = MENU.map(({ path, title: text }) => {
    const current = path === section && html` aria-current="page"`
    return html`<li><a href="${path}"${current}>${text}</a></li>\n`
  })
  return wholeConsolePage({
    title: `${error === undefined ? '' : 'Error: '}${title} – ${CONSOLE_TITLE}`,
    look: 'console',
    content: html`<a class="skip" href="#content">Skip to content</a>
<header class="bar">
<a class="home" href="${CONSOLE_PATH}">${MARK}<span>Console</span></a>
<button class="quiet open-menu" type="button" popovertarget="menu"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 4h12M2 8h12M2 12h12"/></svg> Menu</button>
<form class="search" role="search" action="${SEARCH_PATH}" method="get">
<label class="unseen" for="search">Find anyone</label>
<input id="search" type="search" name="q" value="${searched}" maxlength="256" autocomplete="off" autocapitalize="none" spellcheck="false" placeholder="Find anyone: name, username, ID, fingerprint" aria-keyshortcuts="/">
<kbd aria-hidden="true">/</kbd>
<button class="unseen" type="submit">Search</button>
</form>
<div class="who">
<a href="/account"><bdi>${name}</bdi></a>
${form(formToken, CONSOLE_SIGN_OUT_PATH, html`<button class="quiet" type="submit">Sign out</button>`)}
</div>
</header>
<nav class="menu" id="menu" popover aria-label="Console"><ul>
${entries}</ul></nav>
<main id="content" tabindex="-1">
<div class="heading">
<h1><bdi>${title}</bdi></h1>
${lead}
</div>
${noteOf(frame)}${errorOf(error)}${content}
</main>`,
  })
}

function noteOf(frame: ConsoleFrame): SafeHtml | undefined {
  const { note, end } = frame
  if (note === undefined) return undefined
  if (asksToConfirm(frame)) {
    return html`<p class="confirm" role="status" tabindex="-1" autofocus>${CONSOLE_NOTES[note]} <a href="${confirmPath(frame)}">Confirm that it is you</a>.</p>\n`
  }
  return html`<p class="done" role="status" tabindex="-1" autofocus>${CONSOLE_NOTES[note]}${end && ` ${progressOf(end)}`}</p>\n`
}

function errorOf(error: ConsoleLayout['error']): SafeHtml | undefined {
  if (error === undefined) return undefined
  const { message, field } =
    typeof error === 'string' ? { message: error, field: undefined } : error
  const text = field === undefined ? message : html`<a href="#${field}">${message}</a>`
  return html`<p class="alert" id="error" role="alert" tabindex="-1" autofocus>${text}</p>\n`
}

function progressOf({ outcome, confirmed, all }: ShownEnd): string {
  if (outcome === 'pending') {
    return `${confirmed} of ${all} routers and instances have confirmed it so far.`
  }
  return outcome === 'confirmed'
    ? 'Every router and instance has confirmed it.'
    : 'Every router and instance has confirmed it, or refuses it.'
}

/**
 * Instead of, or above, forms that need a fresh login: a link to the login, which leads back here (D-356). Nothing if the
 * login is fresh.
 */
export function confirmFirst(frame: ConsoleFrame): SafeHtml | undefined {
  // The notice has the link already.
  if (frame.isFresh || asksToConfirm(frame)) return undefined
  return html`<p class="confirm">You signed in a while ago. To make changes, <a href="${confirmPath(frame)}">confirm that it is you</a>.</p>\n`
}

/** Whether the notice is about a form that was sent without a fresh login. */
function asksToConfirm({ note, isFresh }: ConsoleFrame): boolean {
  return !isFresh && (note === 'confirm-first' || note === 'confirm-with-input')
}

function confirmPath({ here }: ConsoleFrame): string {
  return `${CONSOLE_CONFIRM_PATH}?page=${encodeURIComponent(here)}`
}

/** For htmx: no eval, no styles and no history of its own, only our own address (D-357). */
const HTMX_CONFIG = JSON.stringify({
  allowEval: false,
  allowScriptTags: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
  refreshOnHistoryMiss: true,
})

/** A page of the console: unlike the other pages, it loads its style and scripts from our own address. */
export function wholeConsolePage(page: {
  readonly title: string
  readonly look: 'console' | 'card'
  readonly content: SafeHtml
}): SafeHtml {
  return htmlDocument(
    { ...page, language: 'en', icon: ICON },
    html`<meta name="htmx-config" content="${HTMX_CONFIG}">
<link rel="stylesheet" href="${ASSETS_PATH}/console.css">
<script src="${ASSETS_PATH}/htmx.js" defer></script>
<script src="${ASSETS_PATH}/console.js" type="module"></script>`,
  )
}
