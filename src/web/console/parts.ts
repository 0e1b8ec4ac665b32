/** What the pages of the console are made of: times, badges, tables, facts, empty states, buttons that change something. */
import { type Instant, toRfc3339 } from '../../base/time/instant.ts'
import { form } from '../account/layout.ts'
import { type HtmlValue, html, type SafeHtml } from '../login/html.ts'
import type { ConsoleFrame } from './layout.ts'
import { identityPath } from './navigation.ts'

/** The exact time in UTC; assets/times.js makes it relative, with the exact one in the reader's time zone on hover. */
export function time(at: Instant | undefined, missing = '–'): HtmlValue {
  return at === undefined ? missing : timeElement(at)
}

/** After words such as "until" and "since", which a relative time does not follow. */
export function exactTime(at: Instant | undefined, missing = '–'): HtmlValue {
  return at === undefined ? missing : timeElement(at, html` class="exact"`)
}

function timeElement(at: Instant, look?: SafeHtml): SafeHtml {
  const text = toRfc3339(at)
  return html`<time${look} datetime="${text}">${text.slice(0, 10)} ${text.slice(11, 19)} UTC</time>`
}

export interface ShownPerson {
  readonly id: string
  /** As it was at the time; undefined for events from before names were recorded. */
  readonly name: string | undefined
}

export function personLink({ id, name }: ShownPerson): SafeHtml {
  return html`<a href="${identityPath(id)}"><bdi>${name ?? id}</bdi></a>`
}

/** The look of a badge says how much attention it needs; its text says why. */
export type Tone = 'good' | 'warn' | 'bad' | 'quiet'

export function badge(tone: Tone, text: string): SafeHtml {
  return html`<span class="badge ${tone}">${text}</span>`
}

/** A number of things, in words: `plural(1, 'session')`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

export interface Column<Row> {
  readonly title: string
  /** A link that sorts by this column, if it can. */
  readonly sort?: { readonly href: string; readonly direction: 'asc' | 'desc' | undefined }
  readonly cell: (row: Row) => HtmlValue
  /** `number`: aligned right. `wide`: keeps long values on few lines. `address`: keeps an IPv4 address on one. */
  readonly look?: 'number' | 'wide' | 'address'
}

/** A table that becomes a list of cards on a narrow screen. `label` is its name for screen readers. */
export function table<Row>(
  label: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): SafeHtml {
  const heads = columns.map(({ title, sort, look }) => {
    const content = sort === undefined ? title : html`<a href="${sort.href}">${title}</a>`
    const order = sort?.direction && `${sort.direction}ending`
    return html`<th scope="col"${classOf(look)}${order !== undefined && html` aria-sort="${order}"`}>${content}</th>`
  })
  const body = rows.map(
    (row) =>
      html`<tr>${columns.map(({ title, cell, look }) => html`<td data-label="${title}"${classOf(look)}><div>${cell(row)}</div></td>`)}</tr>\n`,
  )
  return html`<div class="table" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${heads}</tr></thead>
<tbody>
${body}</tbody>
</table></div>`
}

const classOf = (look: string | undefined) => look !== undefined && html` class="${look}"`

/** Name and value pairs; a pair without a value is left out. */
export function facts(pairs: readonly (readonly [string, HtmlValue])[]): SafeHtml {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== false && value !== '')
  return html`<dl class="facts">
${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`
}

/** What to show where there is nothing yet, with what to do about it. */
export function empty(title: string, advice: HtmlValue): SafeHtml {
  return html`<div class="empty"><p class="what">${title}</p><p>${advice}</p></div>`
}

export function section(title: string, content: HtmlValue, beside?: HtmlValue): SafeHtml {
  return html`<section class="card">
<div class="heading"><h2>${title}</h2>${beside}</div>
${content}
</section>
`
}

export interface Action {
  readonly path: string
  readonly label: string
  /** What the button will do, for changes that cannot be undone by pressing another button. */
  readonly consequence?: HtmlValue
  readonly fields?: HtmlValue
}

/** A button that changes something. */
export function action({ formToken }: ConsoleFrame, { path, label, fields }: Action): SafeHtml {
  return form(formToken, path, html`${fields}<button class="quiet" type="submit">${label}</button>`)
}

/**
 * A change that hurts: folded away, so that it takes two deliberate steps without scripts too, in another color, and with
 * what it will do.
 */
export function dangerous(
  frame: ConsoleFrame,
  { path, label, consequence, fields }: Action,
): SafeHtml {
  return html`<details class="danger"><summary>${label}&hellip;</summary>
<div>
<p>${consequence}</p>
${form(frame.formToken, path, html`${fields}<button class="bad" type="submit">${label}</button>`)}
</div></details>`
}

/** A text that a list is filtered by. */
export function searchField(name: string, label: string, value: string): SafeHtml {
  return html`<div><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="search" value="${value}" maxlength="256" autocomplete="off"></div>`
}

export interface Pages {
  readonly offset: number
  readonly limit: number
  readonly total: number
  /** The address of the page that begins at this row. */
  readonly at: (offset: number) => string
}

/** Where the reader is in a long list, with links to the previous and the next page. */
export function pager({ offset, limit, total, at }: Pages): SafeHtml | undefined {
  if (total <= limit && offset === 0) return undefined
  const last = Math.min(total, offset + limit)
  const before = Math.max(0, offset - limit)
  return html`<nav class="pager" aria-label="Pages">
<span>${offset + 1}&ndash;${last} of ${total}</span>
${offset > 0 && html`<a rel="prev" href="${at(before)}">Previous</a>`}
${last < total && html`<a rel="next" href="${at(last)}">Next</a>`}
</nav>`
}
