/**
 * Parses a filter text into a tree. API 2: comparisons, `contains`, `icontains`, `in […]`, `between … and …`, `= null`,
 * `anyOf(…)`, `tags.x`, `datetime(…)`, joined by `and`, `or`, `not` and brackets; `sort by`, `skip` and `limit` may
 * follow. Only the fields of the list are allowed, each with values of its type. Depth and number of comparisons are
 * bounded, because callers send the text.
 */
import { fromRfc3339, type Instant } from '../../base/time/instant.ts'
import { FilterFault, type Token, tokenize } from './filter-tokens.ts'
import { FALSE, possible, TRUE } from './filters.ts'
import {
  type Comparator,
  type FieldReference,
  type FieldType,
  type Filter,
  type FilterValue,
  fieldNamed,
  type ListFields,
  type Order,
  resolvedName,
  type Test,
} from './list-query.ts'
import { MOST_ORDERS, readOrder, TOO_MANY_ORDERS } from './read-sort.ts'
import { TokenCursor } from './token-cursor.ts'

export interface ReadFilter {
  readonly filter: Filter | undefined
  readonly orders: readonly Order[] | undefined
  readonly skip: number | undefined
  /** Infinity: `limit none`. */
  readonly limit: number | undefined
}

const LONGEST = 4096
const DEEPEST = 32
const MOST_COMPARISONS = 64
const MOST_VALUES = 100
/** A case-insensitive search makes the database examine every character. */
const LONGEST_PART = 256

/** Throws FilterFault, with the column of the error. */
export function readFilter(text: string, known: ListFields): ReadFilter {
  if (text.length > LONGEST) {
    throw new FilterFault(`is longer than ${LONGEST} characters`, LONGEST + 1)
  }
  return new Reader(new TokenCursor(tokenize(text)), known).readAll()
}

/** A tag can have a value of any type. */
type Known = { readonly field: FieldReference; readonly type: FieldType | 'any' }

class Reader {
  readonly #tokens: TokenCursor
  readonly #known: ListFields
  #comparisons = 0

  constructor(tokens: TokenCursor, known: ListFields) {
    this.#tokens = tokens
    this.#known = known
  }

  readAll(): ReadFilter {
    const tokens = this.#tokens
    const isBare = tokens.isWord('sort', 'skip', 'limit') || tokens.peek().kind === 'end'
    const filter = isBare ? undefined : this.#readOr(0)
    const orders = tokens.takeWord('sort') === undefined ? undefined : this.#readSort()
    const skip = tokens.takeWord('skip') === undefined ? undefined : this.#readCount(0)
    const limit = tokens.takeWord('limit') === undefined ? undefined : this.#readLimit()
    const rest = tokens.peek()
    if (rest.kind !== 'end') throw new FilterFault('is not understood', rest.column)
    return { filter, orders, skip, limit }
  }

  #readOr(depth: number): Filter {
    return this.#readJoined('or', () => this.#readJoined('and', () => this.#readPart(depth)))
  }

  #readJoined(op: 'and' | 'or', read: () => Filter): Filter {
    const first = read()
    const parts = [first]
    while (this.#tokens.takeWord(op) !== undefined) parts.push(read())
    return parts.length === 1 ? first : { op, parts }
  }

  #readPart(depth: number): Filter {
    const { column } = this.#tokens.peek()
    if (depth > DEEPEST) throw new FilterFault('is nested too deeply', column)
    if (this.#tokens.takeWord('not') !== undefined) {
      return { op: 'not', part: this.#readPart(depth + 1) }
    }
    if (this.#tokens.takeSign('(')) {
      const inner = this.#readOr(depth + 1)
      this.#tokens.expectSign(')')
      return inner
    }
    this.#comparisons += 1
    if (this.#comparisons > MOST_COMPARISONS) {
      throw new FilterFault(`has more than ${MOST_COMPARISONS} comparisons`, column)
    }
    const word = this.#tokens.takeWord('true', 'false')
    if (word !== undefined) return word === 'true' ? TRUE : FALSE
    return this.#readComparison()
  }

  #readComparison(): Filter {
    const known = this.#readField()
    const isNegated = this.#tokens.takeWord('not') !== undefined
    const { column } = this.#tokens.peek()
    const word = this.#tokens.takeWord('contains', 'icontains', 'in', 'between')
    if (word !== undefined) {
      const leaf = possible(known.field, this.#readTest(word, known.type, column))
      return isNegated ? { op: 'not', part: leaf } : leaf
    }
    const sign = this.#tokens.next()
    const comparator = sign.kind === 'sign' ? sign.text : ''
    if (isNegated || !isComparator(comparator)) {
      throw new FilterFault('a comparison is missing', column)
    }
    return this.#readCompared(known, comparator)
  }

  #readTest(word: string, type: Known['type'], column: number): Test {
    switch (word) {
      case 'in':
        return { op: 'in', values: this.#readValues(type) }
      case 'between': {
        const from = this.#readOrdered(type)
        this.#tokens.expectWord('and')
        return { op: 'between', from, to: this.#readOrdered(type) }
      }
      default: {
        if (type !== 'text' && type !== 'any') {
          throw new FilterFault('contains needs a text field', column)
        }
        const part = this.#tokens.peek()
        const text = String(this.#readValue('text'))
        if (text.length > LONGEST_PART) {
          throw new FilterFault(`has more than ${LONGEST_PART} characters`, part.column)
        }
        return { op: 'contains', text, ignoresCase: word === 'icontains' }
      }
    }
  }

  #readCompared({ field, type }: Known, comparator: Comparator | '!='): Filter {
    const { column } = this.#tokens.peek()
    const isEquality = comparator === '=' || comparator === '!='
    let leaf: Filter
    if (this.#tokens.takeWord('null') !== undefined) {
      if (!isEquality) throw new FilterFault('null cannot be compared with < or >', column)
      leaf = { op: 'null', field }
    } else {
      const value = isEquality ? this.#readValue(type) : this.#readOrdered(type)
      leaf = possible(field, {
        op: 'compare',
        comparator: comparator === '!=' ? '=' : comparator,
        value,
      })
    }
    return comparator === '!=' ? { op: 'not', part: leaf } : leaf
  }

  #readField(): Known {
    const token = this.#tokens.next()
    if (token.kind !== 'word') throw new FilterFault('a field is missing', token.column)
    if (token.text.toLowerCase() === 'anyof') return this.#readList()
    if (this.#known.hasTags && token.text.startsWith('tags.')) {
      return { field: { kind: 'tag', name: token.text.slice('tags.'.length) }, type: 'any' }
    }
    const name = resolvedName(this.#known, token.text)
    const field = fieldNamed(this.#known, name)
    if (field === undefined)
      throw new FilterFault('is not a field that can be filtered by', token.column)
    if (field.isList === true) {
      throw new FilterFault('is a list: write anyOf(…) around it', token.column)
    }
    return { field: { kind: 'field', name }, type: field.type }
  }

  #readList(): Known {
    this.#tokens.expectSign('(')
    const token = this.#tokens.next()
    const name = token.kind === 'word' ? token.text : ''
    const field = fieldNamed(this.#known, name)
    if (field?.isList !== true) {
      throw new FilterFault('anyOf needs a field that is a list', token.column)
    }
    this.#tokens.expectSign(')')
    return { field: { kind: 'list', name }, type: field.type }
  }

  #readValues(type: Known['type']): readonly FilterValue[] {
    const values: FilterValue[] = []
    this.#tokens.expectSign('[')
    do {
      if (values.length === MOST_VALUES) {
        throw new FilterFault(`has more than ${MOST_VALUES} values`, this.#tokens.peek().column)
      }
      values.push(this.#readValue(type))
    } while (this.#tokens.takeSign(','))
    this.#tokens.expectSign(']')
    return values
  }

  #readOrdered(type: Known['type']): FilterValue {
    const { column } = this.#tokens.peek()
    const value = this.#readValue(type)
    if (typeof value === 'boolean') throw new FilterFault('true and false have no order', column)
    return value
  }

  #readValue(type: Known['type']): FilterValue {
    const token = this.#tokens.next()
    // A time is valid only inside `datetime(…)`.
    if (token.kind === 'time') throw new FilterFault(`must be ${WANTED[type]}`, token.column)
    const value = this.#valueOf(token)
    if (value === undefined) throw new FilterFault('a value is missing', token.column)
    // No tag holds a time.
    const isFit = type === 'any' ? value.type !== 'time' : value.type === type
    if (!isFit) throw new FilterFault(`must be ${WANTED[type]}`, token.column)
    return value.value
  }

  #valueOf(token: Token): { type: FieldType; value: FilterValue } | undefined {
    if (token.kind === 'text') return { type: 'text', value: token.value }
    if (token.kind === 'number') return { type: 'number', value: token.value }
    if (token.kind !== 'word') return undefined
    const word = token.text.toLowerCase()
    if (word === 'true' || word === 'false') return { type: 'boolean', value: word === 'true' }
    return word === 'datetime' ? { type: 'time', value: this.#readTime() } : undefined
  }

  #readTime(): Instant {
    this.#tokens.expectSign('(')
    const token = this.#tokens.next()
    const text = token.kind === 'text' ? token.value : token.kind === 'time' ? token.text : ''
    const time = fromRfc3339(text)
    if (time === undefined) throw new FilterFault(`must be ${WANTED.time}`, token.column)
    this.#tokens.expectSign(')')
    return time
  }

  #readSort(): readonly Order[] {
    this.#tokens.expectWord('by')
    const orders: Order[] = []
    do {
      const field = this.#tokens.next()
      const name = field.kind === 'word' ? field.text : ''
      const direction = this.#tokens.takeWord('asc', 'desc') ?? 'asc'
      const order = readOrder(name, direction, this.#known)
      if (typeof order === 'string') throw new FilterFault(order, field.column)
      if (orders.length === MOST_ORDERS) throw new FilterFault(TOO_MANY_ORDERS, field.column)
      orders.push(order)
    } while (this.#tokens.takeSign(','))
    return orders
  }

  #readLimit(): number {
    return this.#tokens.takeWord('none') === undefined
      ? this.#readCount(1)
      : Number.POSITIVE_INFINITY
  }

  #readCount(least: 0 | 1): number {
    const token = this.#tokens.next()
    const count = token.kind === 'number' ? token.value : -1
    if (!Number.isSafeInteger(count) || count < least) {
      throw new FilterFault(`a whole number of at least ${least} is missing`, token.column)
    }
    return count
  }
}

function isComparator(sign: string): sign is Comparator | '!=' {
  return ['=', '!=', '<', '<=', '>', '>='].includes(sign)
}

const WANTED: Readonly<Record<Known['type'], string>> = {
  text: 'a text in quotes',
  number: 'a number',
  boolean: 'true or false',
  time: 'a time like datetime("2026-01-31T12:00:00Z")',
  any: 'a text in quotes, a number, true or false',
}
