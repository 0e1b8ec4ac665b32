import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListQuery } from '../api/edge-api.ts'
import { NAMED_ENTITIES } from '../table/command.ts'
import { COMMANDS } from '../table/commands.ts'
import { namesOf } from './names.ts'

function apiWith(rows: readonly Readonly<Record<string, unknown>>[]) {
  const asked: (ListQuery & { readonly path: string })[] = []
  return {
    asked,
    async list(path: string, query: ListQuery = {}) {
      asked.push({ path, ...query })
      return { rows, offset: 0, total: rows.length }
    },
  }
}

test('names are asked for once, by their beginning, and a page of them', async () => {
  const api = apiWith([{ name: 'ann' }, { name: 'an "x" \\' }, { name: 'bob' }])
  assert.deepEqual(await namesOf(api, 'identity', 'an'), ['an "x" \\', 'ann'])
  assert.deepEqual(api.asked, [
    {
      path: '/identities',
      filter: 'name >= "an" and name < "an\u{10ffff}"',
      sort: 'name',
      limit: 100,
    },
  ])
  await namesOf(api, 'policy', '')
  assert.equal(api.asked[1]?.filter, undefined)
})

test('what belongs to an identity is offered by its username, or by the identity', async () => {
  const password = apiWith([{ username: 'ann', identity: { name: 'Ann' } }, { username: '' }])
  assert.deepEqual(await namesOf(password, 'authenticator', ''), ['ann'])
  const owned = { identity: { id: 'i', name: 'Ann', entity: 'identities' } }
  assert.deepEqual(await namesOf(apiWith([owned, owned]), 'session', 'A'), ['Ann'])
})

test('a name that no line can hold is not offered', async () => {
  // Attack: a name that ends the line, or shows another one than it is.
  const names = ['a\nreboot', 'a\u001b[2J', 'a\u202eb', 'a\u0000', 'ann']
  const api = apiWith(names.map((name) => ({ name })))
  assert.deepEqual(await namesOf(api, 'identity', ''), ['ann'])
})

test('every command that takes a name of an entity completes it', () => {
  const kinds: readonly string[] = ['contexts', ...NAMED_ENTITIES]
  const silent = COMMANDS.filter(({ audience }) => audience === 'administrator').flatMap(
    ({ words, operands = [], options }) => [
      ...operands
        .filter(({ name, names }) => /^(NAME|ID)$/.test(name) && !kinds.includes(names ?? ''))
        .map(({ name }) => `${words} ${name}`),
      ...Object.entries(options)
        .filter(([name]) => ['identity', 'actor', 'policy', 'signer', 'ca'].includes(name))
        .filter(([, { names, value }]) => value === 'NAME' && !kinds.includes(names ?? ''))
        .map(([name]) => `${words} --${name}`),
    ],
  )
  // A new entity has no name that exists.
  const made = /^(create|invite) /
  assert.deepEqual(
    silent.filter((one) => !made.test(one)),
    [],
  )
})
