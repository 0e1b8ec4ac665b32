/**
 * The only way to write pages: a template tag that escapes all values. No function takes text unescaped; styles and
 * scripts are templates without values.
 */

/** Text that is safe to send as HTML. Only the `html` tag creates it. */
export type { SafeHtml }

export type HtmlValue = SafeHtml | string | number | false | undefined | readonly HtmlValue[]

/** Escapes every value for text and for quoted attributes. Undefined and false become nothing; lists are joined. */
export function html(template: TemplateStringsArray, ...values: readonly HtmlValue[]): SafeHtml {
  const [first = '', ...rest] = template
  return new SafeHtml(rest.reduce((text, part, i) => text + render(values[i]) + part, first))
}

class SafeHtml {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return ''
  if (value instanceof SafeHtml) return value.toString()
  if (Array.isArray(value)) return value.map(render).join('')
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
