/** Lists of the management API: pages, bounds, filters, order. API 1, 2; docs/lists.md says the same. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { z } from 'zod'
import { ApiSessionListReply } from '../../../src/contract/management/api-sessions.ts'
import { AuthPolicyListReply } from '../../../src/contract/management/auth-policies.ts'
import { AuthenticatorListReply } from '../../../src/contract/management/authenticators.ts'
import { CaListReply } from '../../../src/contract/management/cas.ts'
import { ExternalJwtSignerListReply } from '../../../src/contract/management/external-jwt-signers.ts'
import { IdentityListReply } from '../../../src/contract/management/identities.ts'
import { PUBLIC_SIGNER_FIELDS } from '../../../src/domain/lists/fields.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { administrate, assertRefused, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const LISTS: Readonly<Record<string, z.ZodType>> = {
  '/identities': IdentityListReply,
  '/authenticators': AuthenticatorListReply,
  '/auth-policies': AuthPolicyListReply,
  '/external-jwt-signers': ExternalJwtSignerListReply,
  '/cas': CaListReply,
  '/api-sessions': ApiSessionListReply,
}

const PAGE = readFileSync(new URL('../../../docs/lists.md', import.meta.url), 'utf8')

/** The rows of a table of the page, by their first cell: the second, without marks. */
function table(first: string, column: number): readonly (readonly [string, string])[] {
  const begin = PAGE.indexOf(`| ${first} |`)
  const [rows = ''] = PAGE.slice(begin).split('\n\n')
  return rows
    .split('\n')
    .slice(2)
    .map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')))
    .map((cells) => [cells[0] ?? '', cells[column] ?? ''])
}

const quoted = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '')
const DOCUMENTED = table('List', 2).flatMap(([paths, fields]) =>
  quoted(paths).map((path) => [path, quoted(fields)] as const),
)
const EXAMPLES = table('Example', 1).flatMap(([filter]) => quoted(filter))

const names = (rows: readonly { name: string }[]) => rows.map(({ name }) => name)

test('lists', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const tool = await openOpenssl()
  t.after(() => tool.close())
  const someNames = ['b', 'Z', 'a', 'é', '10', '9', 'c', 'd', 'e', 'f', 'g']
  for (const name of someNames) {
    await admin.createIdentity({ name })
    await admin.createPolicy({ name })
    await admin.createSigner({ name, issuer: `https://${encodeURIComponent(name)}.example` })
  }
  const { pem: certPem } = await tool.makeCa()
  await admin.createCa({ name: 'one', certPem })
  const { id: adminId } = (await admin.get('/identities?limit=500')).find(
    ({ name }: { name: string }) => name === 'admin',
  )
  const lists = {
    ...LISTS,
    [`/identities/${adminId}/authenticators`]: AuthenticatorListReply,
    [`/identities/${adminId}/api-sessions`]: ApiSessionListReply,
  }
  const filtered = (path: string, filter: string, more = '') =>
    admin.call('GET', `${path}?filter=${encodeURIComponent(filter)}${more}`)

  for (const [path, shape] of Object.entries(lists)) {
    await t.test(`API 1: ${path} fits the contract`, async () => {
      const reply = await admin.call('GET', path)
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(shape.parse(reply.json()), reply.json())
      assert.ok(reply.json().data.length > 0)
    })

    for (const [query, reason] of [
      ['limit=0', 'must be a whole number of at least 1'],
      ['limit=-1', 'must be a whole number of at least 1'],
      ['limit=x', 'must be a whole number of at least 1'],
      ['limit=1.5', 'must be a whole number of at least 1'],
      ['limit=1e3', 'must be a whole number of at least 1'],
      ['limit=+5', 'must be a whole number of at least 1'],
      ['limit=0x10', 'must be a whole number of at least 1'],
      ['limit=1&limit=1', 'is repeated'],
      ['offset=-1', 'must be a whole number of at least 0'],
      ['offset=x', 'must be a whole number of at least 0'],
      ['offset=99999999999999999999', 'must be at most 9007199254740991'],
      ['offset=0&offset=0', 'is repeated'],
    ] as const) {
      await t.test(`API 2: ${path}?${query} is not a page`, async () => {
        const reply = await admin.call('GET', `${path}?${query}`)
        assertRefused(reply, 400, 'INVALID_PAGINATION', query.split('=')[0])
        assert.equal(reply.json().error.cause.reason, reason)
      })
    }

    await t.test(
      `API 2: ${path} can be asked for the documented fields, and no other`,
      async () => {
        const documented = DOCUMENTED.find(([one]) => one.replace('{id}', adminId) === path)
        const { meta } = (await admin.call('GET', path)).json()
        assert.deepEqual(meta.filterableFields, documented?.[1])
        for (const field of meta.filterableFields) {
          const isList = ['roleAttributes', 'hosts', 'scopes', 'identityRoles'].includes(field)
          const side = field === 'tags' ? 'tags.x' : isList ? `anyOf(${field})` : field
          const reply = await filtered(path, `${side} = null or true`)
          assert.equal(reply.status, 200, reply.text)
          const isSortable = field !== 'tags' && !isList
          const sorted = await admin.call('GET', `${path}?sort=${field}%20desc`)
          if (isSortable) assert.equal(sorted.status, 200, sorted.text)
          else assertRefused(sorted, 400, 'INVALID_SORT_IDENTIFIER', 'sort')
        }
      },
    )

    // Attack: whoever may list asks for a secret letter by letter.
    for (const secret of [
      'passwordHash',
      'password_hash',
      'password',
      'tokenHash',
      'token_hash',
      'token',
      'username_key',
      'cert_pem',
      'certPem',
      'verificationToken',
      'sealedSecret',
      'proof',
      'appData',
      'body',
      'identity.id',
      'rowid',
      'constructor',
      '__proto__',
    ]) {
      await t.test(`API 2: ${path} cannot be asked for ${secret}`, async () => {
        const reply = await filtered(path, `true or ${secret} contains "$"`)
        assertRefused(reply, 400, 'INVALID_FILTER', 'filter')
        assert.equal(
          reply.json().error.cause.reason,
          'is not a field that can be filtered by, at column 9',
        )
        const sorted = await admin.call('GET', `${path}?sort=${secret}`)
        assertRefused(sorted, 400, 'INVALID_SORT_IDENTIFIER', 'sort')
      })
    }

    for (const [filter, reason] of [
      ['id', 'a comparison is missing, at column 3'],
      ['id = ', 'a value is missing, at column 6'],
      ['id = 7', 'must be a text in quotes, at column 6'],
      ['id = "a" or', 'a field is missing, at column 12'],
      [`id = "'; drop table identities; --`, 'a text has no closing quote'],
      ['id = "a"; true', 'is not understood, at column 9'],
      ['\u{1f600}', 'is not understood, at column 1'],
      ['true sort by nobody', 'names no field to sort by, at column 14'],
      ['true limit -1', 'a whole number of at least 1 is missing, at column 12'],
      ['true limit 0', 'a whole number of at least 1 is missing, at column 12'],
      ['true skip -1', 'a whole number of at least 0 is missing, at column 11'],
    ] as const) {
      await t.test(`API 2: ${path} refuses the filter ${filter}`, async () => {
        const reply = await filtered(path, filter)
        assertRefused(reply, 400, 'INVALID_FILTER', 'filter')
        assert.ok(reply.json().error.cause.reason.startsWith(reason), reply.text)
      })
    }

    await t.test(`API 2: ${path} takes one filter and one sort`, async () => {
      const twice = await admin.call('GET', `${path}?filter=true&filter=true`)
      assertRefused(twice, 400, 'INVALID_FILTER', 'filter')
      const sorts = await admin.call('GET', `${path}?sort=id&sort=id`)
      assertRefused(sorts, 400, 'INVALID_SORT_IDENTIFIER', 'sort')
      for (const sort of ['id up', 'id,', 'id,id,id,id,id,id', 'id asc asc']) {
        const reply = await admin.call('GET', `${path}?sort=${encodeURIComponent(sort)}`)
        assertRefused(reply, 400, 'INVALID_SORT_IDENTIFIER', 'sort')
      }
    })

    await t.test(`API 2: ${path} finds one by its id, and nothing by an invalid one`, async () => {
      const [{ id }] = await admin.get(path)
      const { data, meta } = (await filtered(path, `id = "${id}"`)).json()
      assert.deepEqual(
        data.map((row: { id: string }) => row.id),
        [id],
      )
      assert.equal(meta.pagination.totalCount, 1)
      for (const strange of ['\0', `${id}\0`, `${id} `, "' or 1=1", '%', `${id.toUpperCase()}X`]) {
        const reply = await filtered(path, `id = "${strange}"`)
        assert.equal(reply.status, 200, reply.text)
        assert.deepEqual(reply.json().data, [])
      }
    })

    await t.test(`API 2: ${path} counts what the filter finds, and pages through it`, async () => {
      const whole = (await filtered(path, 'id != "nobody"', '&limit=500')).json()
      const { totalCount } = whole.meta.pagination
      assert.equal(totalCount, whole.data.length)
      const pages: string[] = []
      for (let offset = 0; offset < totalCount; offset += 4) {
        const filter = 'id != "nobody" sort by createdAt desc'
        const page = (await filtered(path, filter, `&limit=4&offset=${offset}`)).json()
        assert.equal(page.meta.pagination.totalCount, totalCount)
        pages.push(...page.data.map((row: { id: string }) => row.id))
      }
      assert.deepEqual(pages.toSorted(), whole.data.map((row: { id: string }) => row.id).toSorted())
    })
  }

  for (const example of EXAMPLES) {
    await t.test(`docs/lists.md: ${example} is understood`, async () => {
      const reply = await filtered('/identities', example)
      assert.equal(reply.status, 200, reply.text)
    })
  }

  await t.test('API 2: filters find what they say, and orders are kept', async () => {
    await admin.createIdentity({
      name: 'Zoë',
      externalId: 'zoe@example.org',
      roleAttributes: ['staff', 'door "7"'],
      tags: { floor: 3, note: 'Key', open: true },
    })
    for (const [filter, found] of [
      ['name = "a"', ['a']],
      ['name in ["a", "b", "nobody"]', ['a', 'b']],
      ['name icontains "ZOË"', ['Zoë']],
      ['name contains "ZOË"', []],
      ['name between "a" and "c" sort by name desc', ['c', 'b', 'admin', 'a']],
      ['isAdmin = true', ['admin']],
      ['externalId != null', ['Zoë']],
      ['anyOf(roleAttributes) = "door \\"7\\""', ['Zoë']],
      ['tags.floor > 2 and tags.open = true and tags.note icontains "KEY"', ['Zoë']],
      ['tags.floor = "3"', []],
      ['createdAt > datetime("1999-12-31T23:59:59Z") and name < "9"', ['10']],
      ['createdAt > datetime(1999-12-31T23:59:59Z) and name < "9"', ['10']],
      ['createdAt > datetime(2000-01-01T01:59:59.5+02:00) and name < "9"', ['10']],
      ['not (name > "0") or name = "é"', ['é']],
      ['true sort by name skip 1 limit 2', ['9', 'Z']],
    ] as const) {
      const reply = await filtered('/identities', filter)
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(names(reply.json().data), found, filter)
    }
  })

  await t.test(
    'API 2: what the query says counts for more than what the filter carries',
    async () => {
      const filter = 'true sort by name desc skip 3 limit 2'
      for (const [more, limit, offset, first] of [
        ['', 2, 3, undefined],
        ['&limit=1', 1, 3, undefined],
        ['&offset=0', 2, 0, 'é'],
        ['&sort=name&offset=0', 2, 0, '10'],
        ['&sort=name%20asc&limit=7&offset=0', 7, 0, '10'],
      ] as const) {
        const { data, meta } = (await filtered('/identities', filter, more)).json()
        assert.deepEqual([meta.pagination.limit, meta.pagination.offset], [limit, offset])
        assert.equal(data.length, limit)
        if (first !== undefined) assert.equal(data[0].name, first)
      }
      const { meta } = (await filtered('/identities', 'true limit none')).json()
      assert.equal(meta.pagination.limit, 500)
      const { meta: clamped } = (await filtered('/identities', 'limit 9999')).json()
      assert.equal(clamped.pagination.limit, 500)
    },
  )

  await t.test(
    'API 2: sessions are found by whose they are, and those of others are not',
    async () => {
      const other = await admin.createIdentity({ name: 'other', password: 'correct horse battery' })
      await logInAs(service, other)
      const all = (await filtered('/api-sessions', 'kind = "oidc"')).json().data
      const own = (await filtered('/api-sessions', `identityId = "${other.id}"`)).json().data
      assert.deepEqual(
        own.map((session: { identityId: string }) => session.identityId),
        [other.id],
      )
      assert.ok(all.length > own.length)
      const path = `/identities/${other.id}/api-sessions`
      const { data } = (await filtered(path, `identityId = "${adminId}" or true`)).json()
      assert.deepEqual(
        data.map(({ id }: { id: string }) => id),
        own.map(({ id }: { id: string }) => id),
      )
    },
  )

  await t.test(
    'API 3.1: anonymous callers find signers by the fields that they may read',
    async () => {
      const path = '/edge/client/v1/external-jwt-signers'
      const ask = (filter: string) =>
        service.call(`${path}?filter=${encodeURIComponent(filter)}&limit=500`)
      const { data, meta } = (await ask('issuer contains "example" and name = "Z"')).json()
      assert.deepEqual(names(data), ['Z'])
      assert.deepEqual(meta.filterableFields, Object.keys(PUBLIC_SIGNER_FIELDS.fields))
      for (const hidden of ['enabled = false', 'tags.x = null', 'claimsProperty = "/sub"']) {
        assertRefused(await ask(hidden), 400, 'INVALID_FILTER', 'filter')
      }
    },
  )

  await t.test('API 2: without a limit there are ten, and the count is of all', async () => {
    const reply = (await admin.call('GET', '/auth-policies')).json()
    assert.equal(reply.data.length, 10)
    assert.deepEqual(reply.meta, {
      filterableFields: ['id', 'createdAt', 'updatedAt', 'name', 'tags'],
      pagination: { limit: 10, offset: 0, totalCount: someNames.length + 2 },
    })
  })

  await t.test('API 2: a limit beyond 500 is 500', async () => {
    for (const limit of ['501', '99999999999999999999']) {
      const { meta } = (await admin.call('GET', `/auth-policies?limit=${limit}`)).json()
      assert.deepEqual(meta.pagination, { limit: 500, offset: 0, totalCount: someNames.length + 2 })
    }
  })

  for (const path of ['/identities', '/auth-policies', '/external-jwt-signers']) {
    await t.test(`API 2: the pages of ${path} are all of it, each once, by name`, async () => {
      const whole = names(await admin.get(`${path}?limit=500`))
      assert.deepEqual(whole, whole.toSorted())
      const pages: string[] = []
      for (let offset = 0; offset < whole.length; offset += 3) {
        pages.push(...names(await admin.get(`${path}?limit=3&offset=${offset}`)))
      }
      assert.deepEqual(pages, whole)
      assert.deepEqual(await admin.get(`${path}?offset=1000`), [])
      assert.deepEqual(await admin.get(`${path}?offset=9007199254740991`), [])
    })
  }
})
