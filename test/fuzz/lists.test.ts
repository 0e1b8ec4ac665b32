/**
 * Properties of filters and orders of lists (API 2), which come from outside: whatever is sent, the answer is the list
 * or a refusal that says where the fault is, never an error of ours; only fields that the list names can be asked for;
 * and no answer holds a secret.
 */
import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import * as lists from '../../src/domain/lists/fields.ts'
import { FilterFault } from '../../src/domain/lists/filter-tokens.ts'
import { type Filter, type ListFields, namesOf } from '../../src/domain/lists/list-query.ts'
import { readFilter } from '../../src/domain/lists/read-filter.ts'
import { readSort } from '../../src/domain/lists/read-sort.ts'
import { handMadeCsr } from '../support/certificates/csr.ts'
import { inviteNew } from '../support/certificates/enrollment.ts'
import { rounds } from '../support/chance/rounds.ts'
import { legacyToken } from '../support/login/legacy.ts'
import { bearer } from '../support/login/login.ts'
import { logInOffline } from '../support/login/refresh.ts'
import { administrate, MANAGEMENT } from '../support/management.ts'
import { startService } from '../support/service.ts'
import { anyFilter, anySort } from '../support/stores/filters.ts'
import { sql } from '../support/stores/sql.ts'

const RUNS = rounds(1000)

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
  ...['datetime(2026-01-31T12:00:00Z)', '2026-01-31T12:00:00Z', '2026-01-31T', '1-1-1T-+:.'],
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

/** What other lists name, what the tables call it, what the answers show, and what every object has. */
const NAMED_ELSEWHERE = [
  ...new Set([
    ...Object.values(FIELDS).flatMap(namesOf),
    ...SECRETS,
    ...['sealed_key', 'sealedSecret', 'sealed_private_jwk', 'codeHash', 'code_hash', 'body'],
    ...['details', 'jwk', 'certPem', 'token', 'jwt', 'password', 'lockedUntil', 'rowid'],
    ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'tags', 'fields', 'name.id'],
  ]),
]

const UNLISTED: readonly ((name: string) => { filter?: string; sort?: string })[] = [
  (name) => ({ filter: `${name} = "a"` }),
  (name) => ({ filter: `${name} != null` }),
  (name) => ({ filter: `not (${name} contains "a")` }),
  (name) => ({ filter: `${name} in ["a", "b"]` }),
  (name) => ({ filter: `${name} between 1 and 2` }),
  (name) => ({ filter: `anyOf(${name}) = "a"` }),
  (name) => ({ filter: `id = "a" or (id != "a" and ${name} = true)` }),
  (name) => ({ filter: `true sort by ${name}` }),
  (name) => ({ sort: name }),
  (name) => ({ sort: `id desc, ${name} asc` }),
]

/** A name that this list does not have, and one of the ways to ask for it. */
const unlisted = (fields: ListFields) => {
  const own = namesOf(fields)
  const name = fc.constantFrom(...NAMED_ELSEWHERE.filter((one) => !own.includes(one)))
  return fc.tuple(name, fc.constantFrom(...UNLISTED)).map(([one, ask]) => ask(one))
}

test('a field that a list does not name cannot be asked for, whatever other list has it', () => {
  const asked = anyList.chain((fields) => fc.tuple(fc.constant(fields), unlisted(fields)))
  const property = fc.property(asked, ([fields, { filter, sort }]) => {
    if (sort !== undefined) assert.equal(typeof readSort(sort, fields), 'string', sort)
    else assert.throws(() => readFilter(filter ?? '', fields), FilterFault, filter)
  })
  fc.assert(property, { numRuns: RUNS })
})

/** A service with something in every list, and every secret that is behind it. */
async function filled(t: TestContext) {
  const service = await startService(t)
  const admin = await administrate(service)
  const zoe = await admin.createIdentity({
    name: 'zoë',
    password: 'correct horse battery',
    tags: { note: 'a', floor: 3 },
  })
  const invited = await inviteNew(admin, { ott: true })
  await admin.createSigner({ issuer: 'https://idp.example', name: 'a', scopes: ['a', 'b'] })
  await admin.create('/signing-keys', {})
  const session = await logInOffline(service, {}, zoe)
  const legacy = await legacyToken(service, zoe)
  await service.call('/edge/client/v1/current-identity/mfa', {
    ...bearer(session.access_token),
    method: 'POST',
  })
  const csr = { json: { csr: handMadeCsr() } }
  const certificates = '/edge/client/v1/current-api-session/certificates'
  await service.call(certificates, { ...bearer(admin.token), ...csr })

  const stored = [
    'select password_hash as s from authenticators where password_hash is not null',
    'select token_hash as s from enrollments',
    'select token_hash as s from api_sessions where token_hash is not null',
    'select hash as s from refresh_tokens',
    'select sealed_secret as s from totp_enrollments',
    'select code_hash as s from recovery_codes',
    'select sealed_private_jwk as s from signing_keys',
    'select sealed_key as s from authorities',
    'select sealed_hashing_secret as s from installation',
  ]
  const { access_token, id_token, refresh_token } = session
  const secrets = [admin.token, access_token, id_token, refresh_token, legacy, invited.token]
  for (const statement of stored) {
    const rows = await sql(service, statement)
    assert.ok(rows.length > 0, statement)
    secrets.push(...rows.map(({ s }) => String(s)))
  }
  return { service, admin, zoe, own: access_token, secrets }
}

test('over HTTP a list is answered or refused, and never shows a secret or what is not the caller’s', async (t) => {
  const { service, admin, zoe, own, secrets } = await filled(t)
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const ofZoe = `${MANAGEMENT}/identities/${zoe.id}`
  const LISTS: readonly (readonly [path: string, ListFields, token: string])[] = [
    [`${MANAGEMENT}/identities`, lists.IDENTITY_FIELDS, admin.token],
    [`${MANAGEMENT}/authenticators`, lists.AUTHENTICATOR_FIELDS, admin.token],
    [`${MANAGEMENT}/enrollments`, lists.ENROLLMENT_FIELDS, admin.token],
    [`${MANAGEMENT}/api-sessions`, lists.API_SESSION_FIELDS, admin.token],
    [`${MANAGEMENT}/auth-policies`, lists.AUTH_POLICY_FIELDS, admin.token],
    [`${MANAGEMENT}/external-jwt-signers`, lists.SIGNER_FIELDS, admin.token],
    [`${MANAGEMENT}/cas`, lists.CA_FIELDS, admin.token],
    [`${MANAGEMENT}/events`, lists.EVENT_FIELDS, admin.token],
    [`${MANAGEMENT}/signing-keys`, lists.SIGNING_KEY_FIELDS, admin.token],
    [`${ofZoe}/authenticators`, lists.AUTHENTICATOR_FIELDS, admin.token],
    [`${ofZoe}/enrollments`, lists.ENROLLMENT_FIELDS, admin.token],
    [`${ofZoe}/api-sessions`, lists.API_SESSION_FIELDS, admin.token],
    ['/edge/client/v1/current-identity/authenticators', lists.AUTHENTICATOR_FIELDS, own],
    [`${MANAGEMENT}/current-identity/authenticators`, lists.AUTHENTICATOR_FIELDS, own],
    ['/edge/client/v1/external-jwt-signers', lists.PUBLIC_SIGNER_FIELDS, own],
    ['/edge/client/v1/current-api-session/certificates', lists.NO_FIELDS, admin.token],
  ]
  const get = (path: string, token: string, query: Readonly<Record<string, string>>) =>
    service.call(`${path}?${new URLSearchParams(query)}`, {
      headers: { authorization: `Bearer ${token}` },
      agent,
    })

  await t.test('each names its fields, and has something in it', async () => {
    const empty = [`${MANAGEMENT}/cas`, `${ofZoe}/enrollments`]
    for (const [path, fields, token] of LISTS) {
      const reply = await get(path, token, {})
      assert.equal(reply.status, 200, reply.text)
      const { data, meta } = reply.json()
      assert.deepEqual(meta.filterableFields.toSorted(), namesOf(fields).toSorted(), path)
      assert.equal(data.length > 0, !empty.includes(path), path)
    }
  })

  const asked = fc.constantFrom(...LISTS).chain(([path, fields, token]) => {
    const isBare = namesOf(fields).length === 0
    const query = fc.record(
      {
        filter: isBare ? anyText : fc.oneof(anyFilter(fields), strange(fields)),
        sort: isBare ? anyText : fc.oneof(anySort(fields), anyText),
      },
      { requiredKeys: ['filter'] },
    )
    return fc.record({
      path: fc.constant(path),
      token: fc.constant(token),
      question: fc.oneof(
        { weight: 4, arbitrary: fc.record({ isKnown: fc.constant(true), query }) },
        {
          weight: 1,
          arbitrary: fc.record({ isKnown: fc.constant(false), query: unlisted(fields) }),
        },
      ),
    })
  })
  const property = fc.asyncProperty(asked, async ({ path, token, question }) => {
    const { isKnown, query } = question
    const reply = await get(path, token, query)
    for (const secret of secrets) assert.equal(reply.text.includes(secret), false, path)
    assert.doesNotMatch(reply.text, /argon2/)
    if (reply.status === 200) {
      assert.ok(isKnown, 'no list has this field')
      const { data } = reply.json()
      if (token === own && path.includes('current-identity')) {
        for (const { identityId } of data) assert.equal(identityId, zoe.id)
      }
      return
    }
    assert.equal(reply.status, 400, reply.text)
    const { code } = reply.json().error
    const refusals = ['INVALID_FILTER', 'INVALID_SORT_IDENTIFIER', 'INVALID_PAGINATION']
    assert.ok(refusals.includes(code), reply.text)
  })
  await fc.assert(property, { numRuns: RUNS })
})
