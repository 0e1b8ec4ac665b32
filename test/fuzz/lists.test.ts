/**
 * Properties of filters and orders of lists (API 2), which come from outside: whatever is sent, the answer is the list
 * or a refusal that says where the fault is, never an error of ours; only fields that the list names can be asked for;
 * and no answer holds a secret.
 */
import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { test } from 'node:test'
import fc from 'fast-check'
import * as lists from '../../src/domain/lists/fields.ts'
import { FilterFault } from '../../src/domain/lists/filter-tokens.ts'
import { type Filter, type ListFields, namesOf } from '../../src/domain/lists/list-query.ts'
import { readFilter } from '../../src/domain/lists/read-filter.ts'
import { readSort } from '../../src/domain/lists/read-sort.ts'
import { anyFilter, anySort } from '../support/filters.ts'
import { administrate, MANAGEMENT } from '../support/management.ts'
import { startService } from '../support/service.ts'

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 1000)

const FIELDS: Readonly<Record<string, ListFields>> = lists
const anyList = fc.constantFrom(...Object.values(FIELDS).filter((one) => namesOf(one).length > 0))

/** Members and columns that hold, or lead to, what nobody may ask for. */
const SECRETS = ['passwordHash', 'password_hash', 'tokenHash', 'token_hash', 'sealedKey', 'proof']

/** Nearly a filter: its words, in any order. */
const WORDS = [
  ...[
    'and',
    'or',
    'not',
    'in',
    'between',
    'contains',
    'icontains',
    'null',
    'true',
    'false',
    'anyOf',
  ],
  ...[
    'sort',
    'by',
    'skip',
    'limit',
    'none',
    'asc',
    'desc',
    'datetime',
    '(',
    ')',
    '[',
    ']',
    ',',
    '=',
  ],
  ...['!=', '<', '<=', '>', '>=', '"a"', '"', '\\', '1', '-1.5', '9'.repeat(400), '"\0"', '"😀"'],
  ...['datetime("2026-01-31T12:00:00Z")', 'tags.x', 'tags.', 'tags', '__proto__', 'constructor'],
  ...SECRETS,
]
const words = (fields: ListFields) =>
  fc
    .array(
      fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...WORDS) },
        { weight: 1, arbitrary: fc.constantFrom(...namesOf(fields)) },
      ),
      { maxLength: 15 },
    )
    .map((some) => some.join(' '))

/** A filter with a piece cut out, doubled, or put in. */
const broken = (fields: ListFields) =>
  fc
    .tuple(anyFilter(fields), fc.nat(), fc.nat(10), fc.constantFrom('', ...WORDS))
    .map(([text, at, length, put]) => {
      const begin = at % (text.length + 1)
      return text.slice(0, begin) + put + text.slice(begin + length)
    })

const anyText = fc.string({ unit: 'binary', maxLength: 40 })
const strange = (fields: ListFields) => fc.oneof(words(fields), broken(fields), anyText)

function assertKnown(filter: Filter, known: ListFields): void {
  switch (filter.op) {
    case 'and':
    case 'or':
      for (const part of filter.parts) assertKnown(part, known)
      return
    case 'not':
      assertKnown(filter.part, known)
      return
    default: {
      const { kind, name } = filter.field
      if (kind === 'tag') {
        assert.ok(known.hasTags)
        assert.match(name, /^[A-Za-z0-9_.-]+$/)
        return
      }
      assert.ok(Object.hasOwn(known.fields, name), name)
      assert.equal(kind, known.fields[name]?.isList === true ? 'list' : 'field')
    }
  }
}

test('no list names a field that is a secret', () => {
  for (const fields of Object.values(FIELDS)) {
    for (const name of namesOf(fields)) {
      assert.ok(!SECRETS.includes(name))
      if (name !== 'targetToken')
        assert.doesNotMatch(name, /hash|token|secret|password|sealed|pem/i)
    }
  }
})

test('a filter is read, or refused at a place within it; what is read asks for known fields alone', () => {
  const asked = anyList.chain((fields) => fc.tuple(fc.constant(fields), strange(fields)))
  const property = fc.property(asked, ([fields, text]) => {
    try {
      const { filter, orders = [] } = readFilter(text, fields)
      if (filter !== undefined) assertKnown(filter, fields)
      for (const { field } of orders) assert.ok(Object.hasOwn(fields.fields, field))
    } catch (error) {
      assert.ok(error instanceof FilterFault, String(error))
      assert.ok(error.column >= 1 && error.column <= [...text].length + 1)
    }
  })
  fc.assert(property, { numRuns: RUNS * 5 })
})

test('a filter that follows the language is read', () => {
  const asked = anyList.chain((fields) => fc.tuple(fc.constant(fields), anyFilter(fields)))
  const property = fc.property(asked, ([fields, text]) => {
    // Longer than this some are too long, or have too many comparisons.
    fc.pre(text.length < 1_000)
    const { filter } = readFilter(text, fields)
    assert.ok(filter !== undefined)
    assertKnown(filter, fields)
  })
  fc.assert(property, { numRuns: RUNS })
})

test('a sort names known fields, or is refused', () => {
  const text = anyList.chain((fields) =>
    fc.tuple(fc.constant(fields), fc.oneof(anySort(fields), words(fields), anyText)),
  )
  const property = fc.property(text, ([fields, sort]) => {
    const orders = readSort(sort, fields)
    if (typeof orders === 'string') return
    assert.ok(orders.length > 0)
    for (const { field } of orders) assert.ok(Object.hasOwn(fields.fields, field))
  })
  fc.assert(property, { numRuns: RUNS })
})

test('over HTTP a list is answered or refused, and never shows a secret', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  await admin.createIdentity({
    name: 'zoë',
    password: 'correct horse battery',
    tags: { note: 'a', floor: 3 },
  })
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const paths = fc.constantFrom<readonly [string, ListFields]>(
    [`${MANAGEMENT}/identities`, lists.IDENTITY_FIELDS],
    [`${MANAGEMENT}/authenticators`, lists.AUTHENTICATOR_FIELDS],
    [`${MANAGEMENT}/api-sessions`, lists.API_SESSION_FIELDS],
    [`${MANAGEMENT}/auth-policies`, lists.AUTH_POLICY_FIELDS],
    [`${MANAGEMENT}/external-jwt-signers`, lists.SIGNER_FIELDS],
    [`${MANAGEMENT}/cas`, lists.CA_FIELDS],
    ['/edge/client/v1/external-jwt-signers', lists.PUBLIC_SIGNER_FIELDS],
    ['/edge/client/v1/current-api-session/certificates', lists.NO_FIELDS],
  )
  const asked = paths.chain(([path, fields]) => {
    const isBare = namesOf(fields).length === 0
    return fc.record({
      path: fc.constant(path),
      filter: isBare ? anyText : fc.oneof(anyFilter(fields), strange(fields)),
      sort: fc.option(isBare ? anyText : fc.oneof(anySort(fields), anyText), { nil: undefined }),
    })
  })
  const headers = { authorization: `Bearer ${admin.token}` }
  const property = fc.asyncProperty(asked, async ({ path, filter, sort }) => {
    const query = new URLSearchParams({ filter, ...(sort === undefined ? {} : { sort }) })
    const reply = await service.call(`${path}?${query}`, { headers, agent })
    assert.doesNotMatch(reply.text, /argon2/)
    if (reply.status === 200) return
    assert.equal(reply.status, 400, reply.text)
    const { code } = reply.json().error
    const refusals = ['INVALID_FILTER', 'INVALID_SORT_IDENTIFIER', 'INVALID_PAGINATION']
    assert.ok(refusals.includes(code), reply.text)
  })
  await fc.assert(property, { numRuns: RUNS / 2 })
})
