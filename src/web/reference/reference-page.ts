/**
 * The readable reference of an API: every call with its access, input, responses and errors. Data in, HTML out; no
 * scripts, and folded sections open with the keyboard.
 */
import { html, type SafeHtml } from '../login/html.ts'
import { wholePage } from '../login/layout.ts'
import { REFERENCE_STYLESHEET } from './styles.ts'

export interface Reference {
  readonly title: string
  readonly description: string
  readonly version: string
  /** The prefix of every path. */
  readonly prefix: string
  readonly groups: readonly {
    readonly name: string
    readonly calls: readonly ReferenceCall[]
  }[]
  readonly shapes: readonly { readonly name: string; readonly fields: readonly ReferenceField[] }[]
}

export interface ReferenceCall {
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string | undefined
  readonly who: string
  readonly parameters: readonly ReferenceField[]
  readonly request: ReferenceBody | undefined
  readonly answers: readonly (ReferenceBody & {
    readonly status: string
    readonly about: string
  })[]
  readonly refusals: readonly { readonly status: string; readonly about: string }[]
}

export interface ReferenceBody {
  /** Its content types. */
  readonly types: readonly string[]
  /** The named shape, or else its fields. */
  readonly shape: string | undefined
  readonly fields: readonly ReferenceField[]
}

export interface ReferenceField {
  readonly name: string
  /** In words and named shapes, such as `list of` and a shape. */
  readonly type: readonly (string | { readonly shape: string })[]
  readonly isRequired: boolean
  readonly about: string | undefined
}

export function referencePage(reference: Reference): SafeHtml {
  const { title, description, version, prefix, groups, shapes } = reference
  return wholePage({
    language: 'en',
    title,
    icon: 'data:,',
    stylesheet: REFERENCE_STYLESHEET,
    content: html`<header>
<h1>${title}</h1>
<p>${description}</p>
<p>Version ${version}. Every path begins with <code>${prefix}</code>. For programs: <a href="openapi.json">openapi.json</a>.</p>
</header>
<nav aria-label="Contents"><ul>
${groups.map(({ name }) => html`<li><a href="#${name}">${name}</a></li>`)}
<li><a href="#shapes">Shapes</a></li>
</ul></nav>
<main>
${groups.map(
  ({ name, calls }) => html`<section id="${name}">
<h2>${name}</h2>
${calls.map(call)}
</section>`,
)}
<section id="shapes">
<h2>Shapes</h2>
${shapes.map(
  ({ name, fields }) => html`<details id="shape-${name}">
<summary><h3><code>${name}</code></h3></summary>
${table(fields)}
</details>`,
)}
</section>
</main>`,
  })
}

function call(one: ReferenceCall): SafeHtml {
  return html`<details>
<summary><h3><code class="method">${one.method}</code> <code>${one.path}</code> <span class="about">${one.summary}</span></h3></summary>
${one.description !== undefined && html`<p class="who">${one.description}</p>`}
<p class="who">${one.who}</p>
${one.parameters.length > 0 && html`<h4>Parameters</h4>${table(one.parameters)}`}
${one.request !== undefined && html`<h4>Request</h4>${body(one.request)}`}
${one.answers.map(
  (answer) => html`<h4>Answer ${answer.status}</h4>
<p>${marked(answer.about)}</p>
${body(answer)}`,
)}
<h4>Refusals</h4>
<div class="wide"><table>
<thead><tr><th scope="col">Status</th><th scope="col">Codes</th></tr></thead>
<tbody>
${one.refusals.map(({ status, about }) => html`<tr><td>${status}</td><td>${marked(about)}</td></tr>\n`)}</tbody>
</table></div>
</details>
`
}

function body({ types, shape, fields }: ReferenceBody): SafeHtml {
  return html`${types.length > 0 && html`<p>${types.map((type, i) => [i > 0 ? ' or ' : '', code(type)])}${shape !== undefined && html`: ${link(shape)}`}</p>`}
${fields.length > 0 && table(fields)}`
}

function table(fields: readonly ReferenceField[]): SafeHtml {
  const isTold = fields.some(({ about }) => about !== undefined)
  return html`<div class="wide"><table>
<thead><tr><th scope="col">Field</th><th scope="col">Value</th>${isTold && html`<th scope="col">About</th>`}</tr></thead>
<tbody>
${fields.map(
  ({ name, type, isRequired, about }) =>
    html`<tr><td><code>${name}</code></td><td>${words(type)}${!isRequired && html` <span class="about">(optional)</span>`}</td>${isTold && html`<td>${about !== undefined && marked(about)}</td>`}</tr>
`,
)}</tbody>
</table></div>`
}

function words(type: ReferenceField['type']) {
  const parts = type.map((part) => (typeof part === 'string' ? part : link(part.shape)))
  return parts.flatMap((part, i) => (i > 0 ? [' ', part] : [part]))
}

const link = (shape: string) => html`<a href="#shape-${shape}"><code>${shape}</code></a>`
const code = (text: string) => html`<code>${text}</code>`

/** Renders text with `code` in backquotes. */
function marked(text: string): readonly (SafeHtml | string)[] {
  return text.split('`').map((part, i) => (i % 2 === 1 ? code(part) : part))
}
