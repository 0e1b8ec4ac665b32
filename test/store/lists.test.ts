/**
 * Lists on every database: filters, orders and pages (API 2). What a filter finds does not depend on the database, on
 * its language, or on whether the rows are in a database at all.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { Client } from 'pg'
import type { ApiSessionId, AuthenticatorId, IdentityId } from '../../src/base/ids.ts'
import { Secret } from '../../src/base/secrets/secret.ts'
import { type Instant, instant } from '../../src/base/time/instant.ts'
import type { Authenticator } from '../../src/domain/identities/authenticator.ts'
import type { Identity } from '../../src/domain/identities/identity.ts'
import { listInMemory } from '../../src/domain/lists/evaluate.ts'
import {
  API_SESSION_FIELDS,
  AUTHENTICATOR_FIELDS,
  IDENTITY_FIELDS,
} from '../../src/domain/lists/fields.ts'
import type { ListFields, ListQuery } from '../../src/domain/lists/list-query.ts'
import { readFilter } from '../../src/domain/lists/read-filter.ts'
import { readSort } from '../../src/domain/lists/read-sort.ts'
import type { PageOf } from '../../src/domain/paging.ts'
import type { ApiSession } from '../../src/domain/sessions/api-session.ts'
import type { Store } from '../../src/domain/stores.ts'
import { openStore } from '../../src/store/open.ts'
import { rounds } from '../support/chance/rounds.ts'
import { anyFilter, anySort, NUMBERS, TAGS, TEXTS, TIMES } from '../support/stores/filters.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, postgresql } from './databases.ts'
import {
  aCertAuthenticator,
  aLegacySession,
  anAuthenticator,
  anIdentity,
  aPolicy,
  aPrimary,
  aSession,
  hash,
  NOON,
} from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const RUNS = rounds(100)
const ANOTHER = { id: 'another' as IdentityId, name: 'another' }
const WHOLE = { limit: 500, offset: 0 }
const FROM_THE_BEGINNING = instant(0)

/** The nth of a few, in an order without pattern. */
const nth = <T>(list: readonly T[], n: number): T => list[(n * 7) % list.length] as T
const at = (n: number): Instant => instant(nth(TIMES, n))

const IDENTITIES: readonly Identity[] = TEXTS.map((text, n) =>
  anIdentity({
    id: `i${n}` as IdentityId,
    name: n % 5 === 0 ? `${text}${n}` : text,
    type: n % 3 === 0 ? 'Router' : 'Default',
    isAdmin: n % 4 === 0,
    externalId: n % 3 === 1 ? `${text}:${n}` : undefined,
    roleAttributes: n % 4 === 0 ? [] : [nth(TEXTS, n), nth(TEXTS, n + 3)],
    tags: {
      ...(n % 2 === 0 ? { note: nth(TEXTS, n + 5) } : { note: nth(NUMBERS, n) }),
      ...(n % 3 === 0 ? { floor: nth(NUMBERS, n) } : {}),
      ...(n % 4 === 0 ? {} : { 'is-open': n % 4 === 1 }),
      'a.b': n % 2 === 0,
      nothing: null,
    },
    disabledAt: n % 5 === 0 ? at(n) : undefined,
    disabledUntil: n % 10 === 0 ? at(n + 1) : undefined,
    lastLoginAt: n % 3 === 0 ? undefined : at(n + 4),
    createdAt: at(n + 2),
    updatedAt: at(n + 3),
  }),
)

const AUTHENTICATORS: readonly Authenticator[] = IDENTITIES.map((identity, n) => {
  const id = `a${n}` as AuthenticatorId
  const { id: identityId, tags } = identity
  const lastUsedAt = n % 4 === 0 ? undefined : at(n + 5)
  const common = { id, identityId, tags, lastUsedAt, createdAt: at(n) }
  return n % 2 === 0
    ? anAuthenticator({ ...common, username: `${n} ${nth(TEXTS, n)}` })
    : aCertAuthenticator({
        ...common,
        fingerprint: `${n}${nth(TEXTS, n)}`,
        isIssuedByNetwork: n % 3 === 0,
      })
})

const SESSIONS: readonly ApiSession[] = IDENTITIES.map((_, n) => {
  const { id: identityId } = nth(IDENTITIES, n)
  const common = {
    id: `s${n}` as ApiSessionId,
    identityId,
    primary: aPrimary({
      identityId,
      authenticatorId: n % 3 === 0 ? undefined : nth(AUTHENTICATORS, n).id,
    }),
    address: nth(['192.0.2.1', '2001:db8::7'], n),
    userAgent: n % 4 === 0 ? undefined : nth(TEXTS, n),
    createdAt: at(n),
    expiresAt: at(n + 1),
  }
  return n % 2 === 0
    ? aSession({ ...common, clientId: nth(TEXTS, n + 1) })
    : aLegacySession({ ...common, tokenHash: hash(`token-${n}`) })
})

async function fill(store: Store): Promise<Store> {
  await store.authPolicies.insert(aPolicy())
  await store.transaction(async (tx) => {
    for (const identity of IDENTITIES) {
      const { id, lastLoginAt } = identity
      assert.equal(await tx.identities.insert(identity), 'inserted')
      if (lastLoginAt !== undefined) await tx.identities.markLogin(id, lastLoginAt)
    }
    for (const one of AUTHENTICATORS) {
      const { id, lastUsedAt } = one
      assert.equal(await tx.authenticators.insert(one), 'inserted')
      if (lastUsedAt !== undefined) await tx.authenticators.markUsed(id, 0, lastUsedAt)
    }
    for (const session of SESSIONS) await tx.apiSessions.insert(session)
  })
  return store
}

/** Each list with its fields, and its rows under the names of the answers, in its own order. */
interface Sample<Row extends { readonly id: string }> {
  readonly fields: ListFields
  readonly rows: readonly Row[]
  list(store: Store, query: ListQuery): Promise<PageOf<{ readonly id: string }>>
}

const ordered = <Row extends { readonly id: string }>(
  rows: readonly Row[],
  sort: string,
  fields: ListFields,
): readonly Row[] => {
  const orders = readSort(sort, fields)
  assert.ok(typeof orders !== 'string')
  return listInMemory(rows, { limit: rows.length, offset: 0, orders }).rows
}

const SAMPLES: Readonly<Record<string, Sample<{ readonly id: string }>>> = {
  identities: {
    fields: IDENTITY_FIELDS,
    rows: ordered(IDENTITIES, 'name', IDENTITY_FIELDS),
    list: (store, query) => store.identities.list(query),
  },
  authenticators: {
    fields: AUTHENTICATOR_FIELDS,
    rows: ordered(AUTHENTICATORS, 'createdAt', AUTHENTICATOR_FIELDS),
    list: (store, query) => store.authenticators.list(query),
  },
  'API sessions': {
    fields: API_SESSION_FIELDS,
    rows: ordered(
      SESSIONS.map((session) => ({
        ...session,
        ipAddress: session.address,
        authenticatorId: session.primary.authenticatorId,
      })),
      'createdAt desc',
      API_SESSION_FIELDS,
    ),
    list: (store, query) =>
      store.apiSessions.list({ of: undefined, at: FROM_THE_BEGINNING }, query),
  },
}

/** A server whose own order of texts is that of a language: a, B, c. */
const inEnglish = {
  name: 'PostgreSQL in English',
  async create(t: TestContext) {
    const { url } = await postgresql.create(t)
    const name = `${new URL(url).pathname.slice(1)}_en`
    const language = `locale_provider icu icu_locale 'en-US'`
    await execute(url, `create database "${name}" template template0 ${language}`)
    const address = new URL(url)
    address.pathname = `/${name}`
    const store = await openStore({ kind: 'postgres', url: new Secret(address.href) })
    t.after(async () => {
      await store.close()
      await execute(url, `drop database "${name}"`)
    })
    return { open: async () => store }
  },
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(statement)
  await client.end()
}

const ids = ({ rows }: PageOf<{ readonly id: string }>) => rows.map(({ id }) => id)

for (const database of [...ALL, inEnglish]) {
  suite(database.name, () => {
    for (const [name, { fields, rows, list }] of Object.entries(SAMPLES)) {
      test(`a filter finds the same ${name} in the database as in memory`, async (t) => {
        const store = await fill(await (await database.create(t)).open())
        const asked = fc.tuple(
          anyFilter(fields),
          fc.option(anySort(fields), { nil: undefined }),
          fc.integer({ min: 1, max: 60 }),
          fc.integer({ min: 0, max: 20 }),
        )
        await fc.assert(
          fc.asyncProperty(asked, async ([text, sort, limit, offset]) => {
            const orders = sort === undefined ? undefined : readSort(sort, fields)
            assert.ok(typeof orders !== 'string')
            const { filter } = readFilter(text, fields)
            const query = { filter, orders, limit, offset }
            const expected = listInMemory(rows, query)
            const found = await list(store, query)
            assert.deepEqual(ids(found), ids(expected))
            assert.equal(found.totalCount, expected.totalCount)
          }),
          { numRuns: RUNS },
        )
      })
    }

    test('what has no value is found by the opposite, and by null', async (t) => {
      const store = await fill(await (await database.create(t)).open())
      const find = async (text: string) => {
        const { filter } = readFilter(text, IDENTITY_FIELDS)
        return (await store.identities.list({ ...WHOLE, filter })).totalCount
      }
      const all = IDENTITIES.length
      const named = IDENTITIES.filter(({ externalId }) => externalId !== undefined).length
      assert.equal(await find('externalId = null'), all - named)
      assert.equal(await find('externalId != null'), named)
      assert.equal(await find('externalId = "a:1"'), 1)
      assert.equal(await find('externalId != "a:1"'), all - 1)
      assert.equal(await find('not (externalId = "a:1")'), all - 1)
      assert.equal(await find('not externalId > ""'), all - named)
      assert.equal(await find('tags.nothing = null'), all)
      assert.equal(await find('tags.never = null'), all)
      assert.equal(await find('tags.never != 3'), all)
      assert.equal(await find('anyOf(roleAttributes) = null or anyOf(roleAttributes) != null'), all)
    })

    test('a value that no database can store finds nothing, and is not an error', async (t) => {
      const store = await fill(await (await database.create(t)).open())
      for (const [text, count] of [
        ['name = "\0"', 0],
        ['name < "b\0"', 0],
        ['name contains "\ud800"', 0],
        ['name icontains "\udc00"', 0],
        ['name between "\0" and "z"', 0],
        ['anyOf(roleAttributes) in ["\0", "\ud800"]', 0],
        ['tags.note = "\0"', 0],
        ['name != "\0"', IDENTITIES.length],
        ['name in ["\0", "ab"]', 1],
      ] as const) {
        const { filter } = readFilter(text, IDENTITY_FIELDS)
        const found = await store.identities.list({ ...WHOLE, filter })
        assert.equal(found.totalCount, count, JSON.stringify(text))
      }
    })

    test('the longest filters are no error', async (t) => {
      const store = await fill(await (await database.create(t)).open())
      const filters = [
        `name = "${'x'.repeat(4000)}"`,
        `name contains "${'ῼ'.repeat(256)}"`,
        `name icontains "${'ῼ'.repeat(256)}"`,
        `tags.${'n'.repeat(4000)} = 1`,
        Array.from({ length: 64 }, (_, n) => `tags.a${n} icontains "${'k'.repeat(30)}"`).join(
          ' or ',
        ),
        `${'not ('.repeat(16)}name = "a"${')'.repeat(16)}`,
        `name in [${Array.from({ length: 100 }, (_, n) => `"${n}"`).join(', ')}]`,
        `tags.x < ${'9'.repeat(300)}.${'9'.repeat(300)}`,
        `tags.x > -${'9'.repeat(308)}`,
      ]
      for (const text of filters) {
        const { filter } = readFilter(text, IDENTITY_FIELDS)
        await store.identities.list({ ...WHOLE, filter })
      }
    })

    test('ever other filters make no difference to the ones before', async (t) => {
      const store = await fill(await (await database.create(t)).open())
      for (let n = 0; n < 600; n++) {
        const text = `tags.a = null and ${'not '.repeat(n % 32)}true${' or false'.repeat(n % 25)}`
        const { filter } = readFilter(text, IDENTITY_FIELDS)
        const expected = n % 2 === 0 ? IDENTITIES.length : 0
        assert.equal((await store.identities.list({ ...WHOLE, filter })).totalCount, expected)
      }
    })

    test('sessions that have expired, or are of another, are in no list', async (t) => {
      const store = await fill(await (await database.create(t)).open())
      const [identity] = IDENTITIES as [Identity]
      const now = instant(TIMES[1] as number)
      const which = { of: identity.id, at: now }
      const { filter } = readFilter(`identityId != "${identity.id}" or true`, API_SESSION_FIELDS)
      const live = SESSIONS.filter(({ expiresAt }) => expiresAt > now)
      const own = live.filter(({ identityId }) => identityId === identity.id)
      for (const query of [WHOLE, { ...WHOLE, filter }]) {
        assert.equal((await store.apiSessions.list(which, query)).totalCount, own.length)
        const all = await store.apiSessions.list({ ...which, of: undefined }, query)
        assert.equal(all.totalCount, live.length)
      }
      const until = { ...which, of: undefined, createdUntil: now }
      const begun = live.filter(({ createdAt }) => createdAt <= now)
      assert.equal((await store.apiSessions.list(until, WHOLE)).totalCount, begun.length)
    })

    test('an identity has a session that has not expired, or has none', async (t) => {
      const { authPolicies, identities, apiSessions } = await (await database.create(t)).open()
      await authPolicies.insert(aPolicy())
      await identities.insert(anIdentity())
      await identities.insert(anIdentity({ ...ANOTHER, externalId: undefined }))
      const { identityId, expiresAt } = aSession()
      const holders = async (at: Instant) => [
        ...(await apiSessions.listHoldersOfLive([identityId, ANOTHER.id], at)),
      ]
      assert.deepEqual(await holders(NOON), [])
      await apiSessions.insert(aSession())
      await apiSessions.insert(aSession({ id: 'session-2' as ApiSessionId }))
      assert.deepEqual(await holders(NOON), [identityId])
      assert.deepEqual(await holders(expiresAt), [])
      assert.equal((await apiSessions.listHoldersOfLive([ANOTHER.id], NOON)).size, 0)
      assert.equal((await apiSessions.listHoldersOfLive([], NOON)).size, 0)
    })

    test('of more rows than are sorted at once, a page is the same as of few', async (t) => {
      // SQLite finds them in another way then.
      const store = await (await database.create(t)).open()
      const { apiSessions } = store
      const many = Array.from({ length: 2_100 }, (_, n) =>
        aSession({
          id: `s${String(n).padStart(5, '0')}` as ApiSessionId,
          createdAt: instant(NOON + (n % 7)),
          address: nth(['192.0.2.1', '192.0.2.2', '192.0.2.3'], n),
          userAgent: n % 50 === 0 ? undefined : `agent ${n % 9}`,
        }),
      )
      const rows = ordered(
        many.map((session) => ({ ...session, ipAddress: session.address })),
        'createdAt desc',
        API_SESSION_FIELDS,
      )
      await store.transaction(async (tx) => {
        for (const session of many) await tx.apiSessions.insert(session)
      })
      for (const sort of [undefined, 'userAgent', 'userAgent desc', 'kind, createdAt desc, id']) {
        for (const text of ['true', 'kind = "oidc"', 'ipAddress != "192.0.2.2" or kind = "oidc"']) {
          const orders = sort === undefined ? undefined : readSort(sort, API_SESSION_FIELDS)
          assert.ok(typeof orders !== 'string')
          const { filter } = readFilter(text, API_SESSION_FIELDS)
          const query = { filter, orders, limit: 10, offset: 990 }
          const found = await apiSessions.list({ of: undefined, at: FROM_THE_BEGINNING }, query)
          assert.deepEqual(ids(found), ids(listInMemory(rows, query)), `${sort} ${text}`)
          assert.equal(found.totalCount, 2_100)
        }
      }
    })
  })
}

test('the sample has tags of every name that is asked for but one', () => {
  const names = new Set(IDENTITIES.flatMap(({ tags }) => Object.keys(tags)))
  assert.deepEqual(
    TAGS.filter((name) => !names.has(name)),
    ['not_there'],
  )
})
