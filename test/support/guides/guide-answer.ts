/**
 * What a page promises to come out of a block. `…` stands for what is different every time: in a line of text and in a
 * string of JSON for any characters, as a line for any lines, as the name of a member for further members, and as a
 * whole string of JSON for any value. Of an HTTP answer the status, the header fields that are shown, and the body are compared.
 */

import assert from 'node:assert/strict'
import { isJsonObject } from '../../../src/base/json.ts'

const ANY = '…'

export interface Promised {
  compare(output: string, where: string): void
}

export function promiseOf(language: string, shown: string): Promised | undefined {
  const compare = COMPARE[language]
  return compare && { compare: (output, where) => compare(shown, output, where) }
}

type Compare = (shown: string, output: string, where: string) => void

const COMPARE: Readonly<Record<string, Compare>> = {
  text: compareText,
  json: compareJson,
  http: compareHttp,
}

function compareText(shown: string, output: string, where: string): void {
  const pattern = `\n${shown.trim()}`
    .split(/\n…(?=\n|$)/)
    // Before further spaces it fills a column, which is as wide as what really stands there.
    .map((part) => anyOf(part.replaceAll(/… {2,}/g, '…  '), '[^\n]*'))
    .join('(?:\n[^\n]*)*')
  if (new RegExp(`^${pattern}$`, 'u').test(`\n${output.trim()}`)) return
  assert.equal(output.trim(), shown.trim(), where)
}

function compareJson(shown: string, output: string, where: string): void {
  assert.ok(output.trim() !== '', `${where}: nothing came out`)
  const actual = parse(output, where)
  assert.deepEqual(actual, expected(parse(shown, where), actual), where)
}

function compareHttp(shown: string, output: string, where: string): void {
  const [shownHead = '', shownBody = ''] = halves(shown)
  const [head = '', body = ''] = halves(output)
  const [shownStatus = '', ...shownFields] = shownHead.split('\n')
  const [status = '', ...fields] = head.split('\n')
  assert.equal(status.trim(), shownStatus.trim(), `${where}\n${output}`)
  for (const field of shownFields) {
    const pattern = new RegExp(`^${anyOf(field.trim(), '.*')}$`, 'iu')
    assert.ok(
      fields.some((line) => pattern.test(line.trim())),
      `${where}: no ${field} in\n${head}`,
    )
  }
  if (/^[[{]/.test(shownBody)) compareJson(shownBody, body, where)
  else compareText(shownBody, body, where)
}

/** Head and body. */
function halves(message: string): readonly string[] {
  const clean = message.replaceAll('\r', '')
  const end = clean.indexOf('\n\n')
  return end < 0 ? [clean.trim(), ''] : [clean.slice(0, end), clean.slice(end + 2).trim()]
}

function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return assert.fail(`${where}: this is no JSON:\n${text}`)
  }
}

/** What is shown, with what `…` stands for taken from what came: whatever does not fit stays as it is shown. */
function expected(shown: unknown, actual: unknown): unknown {
  if (shown === ANY) return actual === undefined ? shown : actual
  if (typeof shown === 'string') {
    const fits =
      typeof actual === 'string' && new RegExp(`^${anyOf(shown, '[^]*')}$`, 'u').test(actual)
    return fits ? actual : shown
  }
  if (Array.isArray(shown)) {
    const given = Array.isArray(actual) ? actual : []
    if (shown.at(-1) !== ANY) return shown.map((item, index) => expected(item, given[index]))
    const named = shown.slice(0, -1).map((item, index) => expected(item, given[index]))
    return [...named, ...given.slice(named.length)]
  }
  if (!isJsonObject(shown)) return shown
  const given = isJsonObject(actual) ? actual : {}
  const { [ANY]: further, ...members } = shown
  const named = Object.entries(members).map(([name, value]) => [name, expected(value, given[name])])
  return { ...(further === undefined ? {} : given), ...Object.fromEntries(named) }
}

function anyOf(text: string, any: string): string {
  return text.split(ANY).map(RegExp.escape).join(any)
}
