/**
 * Properties of what strangers send as a body: what our readers of JSON and of forms take is what
 * independent readers take, and what is ambiguous is refused (R014, R059, D-44). Nothing makes them
 * throw, and nothing makes them slow.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type FormFields, parseForm } from '../../src/base/form.ts'
import { parseJson } from '../../src/base/json.ts'
import { rounds } from '../support/chance/rounds.ts'

// Short in CI, long on demand.
fc.configureGlobal({ numRuns: rounds(1000) })

/** Any text at all: halves of surrogate pairs too. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...'{}[]",:\\%+&= \n01eE-.tfnu'),
    fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
  ),
  maxLength: 60,
})
/** Any text that UTF-8 can carry. */
const unicode = fc.string({ unit: 'binary', maxLength: 12 })

/** A JSON text as it is made, so that its depth and its repeats are known without reading it. */
type Json =
  | { readonly kind: 'scalar'; readonly text: string }
  | { readonly kind: 'array'; readonly items: readonly Json[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [Name, Json])[] }
/** A member name, and whether its characters are written as escapes. */
type Name = { readonly name: string; readonly isEscaped: boolean }

const scalarText = fc.oneof(
  fc.constantFrom('null', 'true', 'false', '-0', '1e3', '0.5E-7', '""', '"\\\\"', '"\\""'),
  fc.constantFrom('"{"', '"]"', '","', '"\\u0022,"', '"\u2028"', '"a\\":1,\\"a"'),
  fc.string({ unit: 'binary', maxLength: 8 }).map((text) => JSON.stringify(text)),
  fc.double({ noDefaultInfinity: true, noNaN: true }).map((number) => JSON.stringify(number)),
)
const memberName = fc.record({
  // Few names, so that repeats are common; awkward ones among them. Not one that is a single backslash: once Node 26 has
  // seen it, its JSON.parse takes the escaped names of one character for it.
  name: fc.constantFrom('a', '', '"', '\\\\', ',', '😀', '__proto__'),
  isEscaped: fc.boolean(),
})
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    scalarText.map((text): Json => ({ kind: 'scalar', text })),
    fc.array(tie('json'), { maxLength: 3 }).map((items): Json => ({ kind: 'array', items })),
    fc
      .array(fc.tuple(memberName, tie('json')), { maxLength: 5 })
      .map((members): Json => ({ kind: 'object', members })),
  ),
}))
const space = fc.constantFrom('', '', ' ', '\n\t\r ')

function write(value: Json, gap: string): string {
  const list = (parts: readonly string[]) => parts.join(`${gap},${gap}`)
  switch (value.kind) {
    case 'scalar':
      return value.text
    case 'array':
      return `[${gap}${list(value.items.map((item) => write(item, gap)))}${gap}]`
    case 'object':
      return `{${gap}${list(
        value.members.map(
          ([name, member]) => `${writeName(name)}${gap}:${gap}${write(member, gap)}`,
        ),
      )}${gap}}`
  }
}

function writeName({ name, isEscaped }: Name): string {
  if (!isEscaped) return JSON.stringify(name)
  const units = Array.from({ length: name.length }, (_, i) => name.charCodeAt(i))
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`
}

function depth(value: Json): number {
  if (value.kind === 'scalar') return 0
  const inside = value.kind === 'array' ? value.items : value.members.map(([, member]) => member)
  return 1 + Math.max(0, ...inside.map(depth))
}

function repeatsName(value: Json): boolean {
  if (value.kind === 'scalar') return false
  if (value.kind === 'array') return value.items.some(repeatsName)
  const names = value.members.map(([{ name }]) => name)
  return (
    new Set(names).size < names.length || value.members.some(([, member]) => repeatsName(member))
  )
}

test('JSON is read as JSON.parse reads it, unless it repeats a name or is nested too deeply', () => {
  const seen = { taken: 0, repeated: 0, deep: 0 }
  fc.assert(
    fc.property(json, space, fc.nat({ max: 6 }), (value, gap, deepest) => {
      const text = `${gap}${write(value, gap)}${gap}`
      const read = parseJson(text, deepest)
      const [isRepeated, isDeep] = [repeatsName(value), depth(value) > deepest]
      if (isRepeated || isDeep) assert.equal(read, undefined, text)
      else assert.deepEqual(read, { value: JSON.parse(text) }, text)
      seen.taken += isRepeated || isDeep ? 0 : 1
      seen.repeated += isRepeated && !isDeep ? 1 : 0
      seen.deep += isDeep && !isRepeated ? 1 : 0
    }),
  )
  // The property means something only when each case is met.
  assert.ok(Math.min(seen.taken, seen.repeated, seen.deep) > 10, JSON.stringify(seen))
})

test('a text that JSON.parse refuses is refused, and none makes the reader throw', () => {
  fc.assert(
    fc.property(anyText, fc.nat({ max: 4 }), (text, deepest) => {
      const read = parseJson(text, deepest)
      if (read !== undefined) assert.deepEqual(read.value, JSON.parse(text))
    }),
  )
})

test('JSON with one character changed, lost or added never makes the reader throw', () => {
  fc.assert(
    fc.property(json, fc.nat(), fc.nat({ max: 1 }), fc.string({ maxLength: 1 }), (...given) => {
      const [value, at, lost, added] = given
      const text = write(value, '')
      const place = at % (text.length + 1)
      const changed = text.slice(0, place) + added + text.slice(place + lost)
      const read = parseJson(changed, 32)
      if (read !== undefined) assert.deepEqual(read.value, JSON.parse(changed))
    }),
  )
})

/** Texts of any length that a careless reader would read again and again. */
const LONG: Readonly<Record<string, (length: number) => string>> = {
  'one long string': (length) => `"${'a'.repeat(length)}"`,
  'one string of escapes': (length) => `"${'\\\\'.repeat(length / 2)}"`,
  'many strings': (length) =>
    `[${Array(length / 4)
      .fill('"a"')
      .join()}]`,
  'many names': (length) => `{${Array.from({ length: length / 10 }, (_, i) => `"${i}":1`).join()}}`,
  'one long name': (length) => `{"${'a'.repeat(length)}":1}`,
  'many empty objects': (length) =>
    `[${Array(length / 4)
      .fill('{}')
      .join()}]`,
  'much space': (length) => `${' '.repeat(length)}1`,
  'a deep nest': (length) => '['.repeat(length / 2) + ']'.repeat(length / 2),
  'half a deep nest': (length) => '['.repeat(length),
}
for (const [what, text] of Object.entries(LONG)) {
  test(`a long text takes no more work than as much JSON in short ones: ${what}`, () => {
    const [short, long] = [text(20_000), text(320_000)]
    const perCharacter = (one: string) => charactersRead(() => parseJson(one, 32)) / one.length
    // About 1 where the work grows with the length, 16 where it grows with its square.
    const ratio = perCharacter(long) / perCharacter(short)
    assert.ok(ratio < 1.1, String(ratio))
  })
}

/** Counted and not timed: a busy machine would blur it. */
function charactersRead(work: () => unknown): number {
  const { charCodeAt, slice, indexOf } = String.prototype
  const { parse } = JSON
  let count = 0
  String.prototype.charCodeAt = function (at) {
    count += 1
    return charCodeAt.call(this, at)
  }
  String.prototype.slice = function (...range) {
    const part = slice.apply(this, range)
    count += part.length
    return part
  }
  String.prototype.indexOf = function (searched, from = 0) {
    const at = indexOf.call(this, searched, from)
    count += (at < 0 ? this.length : at) - from + 1
    return at
  }
  JSON.parse = (...args) => {
    count += args[0].length
    return parse(...args)
  }
  try {
    work()
    return count
  } finally {
    Object.assign(String.prototype, { charCodeAt, slice, indexOf })
    JSON.parse = parse
  }
}

const pairs = fc.array(fc.tuple(unicode, unicode), { maxLength: 8 })
const percentEncode = (pair: readonly [string, string]) => pair.map(encodeURIComponent).join('=')

/** What a form means: the values of each name, in order; empty ones were not sent (RFC 6749 §3.1). */
function grouped(form: Iterable<readonly [string, string]>): FormFields {
  const fields = new Map<string, string[]>()
  for (const [name, value] of form) {
    if (value !== '') fields.set(name, [...(fields.get(name) ?? []), value])
  }
  return fields
}

test('R015: names and values of any characters come out of a form as they were put in', () => {
  fc.assert(
    fc.property(pairs, (form) => {
      assert.deepEqual(parseForm(form.map(percentEncode).join('&')), grouped(form))
      assert.deepEqual(parseForm(new URLSearchParams(form).toString()), grouped(form))
    }),
  )
})

/** Escapes whole and broken, of UTF-8 and of what is not. */
const formText = fc
  .array(
    fc.oneof(
      fc.constantFrom('&', '=', '+', 'a', 'b', '%', '%4', '%zz', '%00', '%2B', '%26', '%25'),
      fc.constantFrom('%C3%A9', '%c3', '%A9', '%ED%A0%80', '%F0%9F%98%80', '%C0%AF', '%FF', 'é'),
      fc.integer({ min: 0, max: 255 }).map((byte) => `%${byte.toString(16).padStart(2, '0')}`),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''))

test('a form is taken exactly when every escape is whole and every text is UTF-8', () => {
  const seen = { taken: 0, refused: 0 }
  fc.assert(
    fc.property(formText, (text) => {
      const isSound = text.split(/[&=]/).every(isSoundlyEscaped)
      const fields = parseForm(text)
      // URLSearchParams drops a first question mark, so there is never one.
      if (isSound) assert.deepEqual(fields, grouped(new URLSearchParams(text)))
      else assert.equal(fields, undefined)
      seen[isSound ? 'taken' : 'refused'] += 1
    }),
  )
  assert.ok(Math.min(seen.taken, seen.refused) > 10, JSON.stringify(seen))
})

function isSoundlyEscaped(text: string): boolean {
  if (/%(?![0-9a-f]{2})/i.test(text)) return false
  const bytes = text.replace(/[^%]|%(..)/gsu, (whole, hex?: string) =>
    hex === undefined ? Buffer.from(whole).toString('hex') : hex,
  )
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(bytes, 'hex'))
    return true
  } catch {
    return false
  }
}

test('no text makes the reader of forms throw', () => {
  fc.assert(fc.property(anyText, (text) => void parseForm(text)))
})
