/**
 * The commented `controller.yml` for a new home: the listener for one address, and every other key with its default,
 * commented out. The texts come from schema.ts.
 */
import { stringify } from 'yaml'
import { bindPointsFor, readAddress } from './addresses/bind-points.ts'
import { allKeys, KEYS, type Key } from './keys.ts'

/** Throws ConfigProblems if clients cannot connect to the address. */
export function defaultConfigFile({ address }: { readonly address: string }): string {
  const given: Given = { v: 1, web: [listenerAt(address)] }
  const blocks = KEYS.map((key) => render(key, given[key.name], ''))
  return `${[explain(HEADER, ''), ...blocks].map((lines) => lines.join('\n')).join('\n\n')}\n`
}

const HEADER =
  'Configuration of Latchkey. A # with a space after it explains what is below. A # without one ' +
  'hides a default or an example: remove it and change the value. Paths count from the home. ' +
  `\${VARIABLE} in a value is read from the environment. The command "latchkey config check" ` +
  'names every problem.'

/** The values that a new file sets, by key. */
interface Given {
  readonly [name: string]: string | number | readonly Given[]
}

function listenerAt(address: string): Given {
  return {
    name: 'default',
    bindPoints: bindPointsFor(readAddress(address)),
    apis: [{ binding: 'edge-client' }, { binding: 'edge-management' }, { binding: 'console' }],
  }
}

/** A key with its explanation: set to a value, or commented out with its default or an example. */
function render(key: Key, given: Given[string] | undefined, indent: string): string[] {
  const { facts } = key
  const words = explain(
    facts.isChoice ? `${facts.rule} Values: ${facts.type}.` : facts.rule,
    indent,
  )
  const name = `${indent}${key.name}:`
  const inner = `${indent}  `
  if (typeof given === 'object') {
    const [first, ...others] = given
    const entries = [
      ...(first === undefined ? [] : renderFirst(key, first, inner)),
      ...(others.length === 0 ? [] : yamlLines(others, inner)),
    ]
    return [...words, name, ...entries, ...(key.path === 'web[].apis' ? oidcEntry(inner) : [])]
  }
  if (given !== undefined) return [...words, ...yamlLines({ [key.name]: given }, indent)]
  // An empty section is valid, so its keys can be uncommented one by one. A section without a default is all or
  // nothing.
  if (key.children.length > 0 && key.usual !== undefined) {
    return [...words, name, ...key.children.flatMap((child) => render(child, undefined, inner))]
  }
  return [...words, ...hide(yamlLines({ [key.name]: exampleOf(key) }, indent), indent)]
}

const OIDC_OPTIONS = 'web[].apis[].options'

/** The first entry of a list explains its keys, including those that are not set. */
function renderFirst(list: Key, given: Given, indent: string): string[] {
  const lines = list.children
    .filter((key) => key.path !== OIDC_OPTIONS)
    .flatMap((key) => render(key, given[key.name], `${indent}  `))
  const dash = lines.findIndex((line) => !line.trimStart().startsWith('#'))
  return lines.map((line, i) => {
    if (i > dash) return line
    return `${indent}${i === dash ? '- ' : ''}${line.trimStart()}`
  })
}

/** `edge-oidc` is added automatically (SPEC Authentication 8); an entry is needed only for its options. */
function oidcEntry(indent: string): string[] {
  const options = allKeys().filter((key) => key.path.startsWith(OIDC_OPTIONS))
  const entry = { binding: 'edge-oidc', options: options[0] && exampleOf(options[0]) }
  return [
    ...options.flatMap((key) => explain(key.facts.rule, indent)),
    ...hide(yamlLines([entry], indent), indent),
  ]
}

function exampleOf(key: Key): unknown {
  if (key.children.length === 0) return key.usual ?? key.facts.example
  return Object.fromEntries(key.children.map((child) => [child.name, exampleOf(child)]))
}

function yamlLines(value: unknown, indent: string): string[] {
  const lines = stringify(value, { lineWidth: 0 }).trimEnd().split('\n')
  return lines.map((line) => `${indent}${line}`)
}

function hide(lines: readonly string[], indent: string): string[] {
  return lines.map((line) => `${indent}#${line.slice(indent.length)}`)
}

const WIDTH = 100

/** Returns comment lines, without the backticks of the documentation. */
function explain(text: string, indent: string): string[] {
  const lines: string[] = []
  for (const word of text.replaceAll('`', '').split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > WIDTH) {
      lines.push(`${indent}# ${word}`)
    } else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}
