/**
 * Filters as people could write them (API 2), by chance: for a list with the given fields, and with values from a few
 * awkward texts, so that many of them match something.
 */
import fc from 'fast-check'
import type { ListField, ListFields } from '../../../src/domain/lists/list-query.ts'

/** Cases, signs with a meaning in patterns, letters beyond 16 bits, and what no database can hold. */
export const TEXTS: readonly string[] = [
  ...['', 'a', 'A', 'ab', 'aB', 'zoë', 'ZOË', 'Zoë 😀', '😀', 'ﬀ', 'ß', 'ẞ', 'SS', 'İ', 'ı', 'i'],
  ...['I', 'ǅ', 'ǆ', 'Σ', 'σ', 'ς', '\u212a', 'k', '*', '?', '[a]', ']', '^a', '%', '_', '-', '!'],
  ...[
    '\\',
    '"',
    "o'neil",
    '.',
    'a.b',
    '$',
    '(a)',
    'a|b',
    '{2}',
    '+',
    '#',
    'true',
    'null',
    '3',
    ' ',
  ],
]
const IMPOSSIBLE = ['\0', 'a\0b']

export const TIMES: readonly number[] = [0, 1, 2, 3].map((n) => 1_800_000_000_000 + n * 86_400_000)
export const NUMBERS: readonly number[] = [0, 1, -1, 3, 0.5, 1000000007, 12345678901]
export const TAGS: readonly string[] = ['note', 'floor', 'is-open', 'a.b', 'nothing', 'not_there']

const text = fc.constantFrom(...TEXTS, ...TEXTS, ...IMPOSSIBLE)
const quote = (value: string) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`
const timeText = ([at, quote]: readonly [number, string]) =>
  `datetime(${quote}${new Date(at).toISOString()}${quote})`

const VALUES: Readonly<Record<ListField['type'], fc.Arbitrary<string>>> = {
  text: text.map(quote),
  number: fc.constantFrom(...NUMBERS).map(String),
  boolean: fc.constantFrom('true', 'false', 'TRUE'),
  time: fc
    .tuple(fc.constantFrom(...TIMES, ...TIMES.map((at) => at + 1)), fc.constantFrom('"', ''))
    .map(timeText),
}

/** Something to compare: how it is written, and of which types its values are. */
interface Side {
  readonly written: string
  readonly types: readonly ListField['type'][]
}

/** The text of a filter that the list understands. */
export function anyFilter(known: ListFields): fc.Arbitrary<string> {
  const side = fc.constantFrom(...sidesOf(known))
  const leaf = side.chain(({ written, types }) => comparison(written, types))
  const { filter } = fc.letrec<{ filter: string }>((tie) => ({
    filter: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc.constantFrom('true', 'false'),
      tie('filter').map((part) => `not (${part})`),
      fc.tuple(tie('filter'), tie('filter')).map(([a, b]) => `${a} and ${b}`),
      fc.tuple(tie('filter'), tie('filter')).map(([a, b]) => `(${a}) or not ${b}`),
      fc.tuple(tie('filter'), tie('filter')).map(([a, b]) => `(${a} OR ${b})`),
    ),
  }))
  return filter
}

/** `sort` of up to three fields. */
export function anySort(known: ListFields): fc.Arbitrary<string> {
  const names = Object.entries<ListField>(known.fields).filter(([, field]) => !field.isList)
  const order = fc.tuple(
    fc.constantFrom(...names.map(([name]) => name)),
    fc.constantFrom('', ' asc', ' desc', ' DESC'),
  )
  return fc
    .array(
      order.map(([field, way]) => `${field}${way}`),
      { minLength: 1, maxLength: 3 },
    )
    .map((orders) => orders.join(', '))
}

function sidesOf({ fields, hasTags }: ListFields): readonly Side[] {
  const sides = Object.entries<ListField>(fields).map(([name, { type, isList }]): Side => {
    return { written: isList ? `anyOf(${name})` : name, types: [type] }
  })
  const tags = TAGS.map((name): Side => {
    return { written: `tags.${name}`, types: ['text', 'number', 'boolean'] }
  })
  return hasTags ? [...sides, ...tags] : sides
}

function comparison(side: string, types: Side['types']): fc.Arbitrary<string> {
  const value = fc.oneof(...types.map((type) => VALUES[type]))
  const ordered = types.filter((type) => type !== 'boolean').map((type) => VALUES[type])
  const word = fc.constantFrom('', 'not ')
  const forms = [
    fc.constantFrom('= null', '!= null', '!= NULL'),
    fc.tuple(fc.constantFrom('=', '!='), value).map(([sign, v]) => `${sign} ${v}`),
    fc
      .tuple(word, fc.array(value, { minLength: 1, maxLength: 4 }))
      .map(([not, values]) => `${not}in [${values.join(', ')}]`),
  ]
  if (ordered.length > 0) {
    const limit = fc.oneof(...ordered)
    forms.push(
      fc.tuple(fc.constantFrom('<', '<=', '>', '>='), limit).map(([sign, v]) => `${sign}${v}`),
      fc.tuple(word, limit, limit).map(([not, a, b]) => `${not}between ${a} and ${b}`),
    )
  }
  if (types.includes('text')) {
    const verb = fc.constantFrom('contains', 'icontains', 'iContains')
    forms.push(fc.tuple(word, verb, VALUES.text).map(([not, v, t]) => `${not}${v} ${t}`))
  }
  return fc.oneof(...forms).map((form) => `${side} ${form}`)
}
