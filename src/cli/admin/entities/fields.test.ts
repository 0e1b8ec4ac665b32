import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Misuse } from '../../terminal/io.ts'
import { bodyOf, type Field, type OptionValues, optionFor, optionsOf } from './fields.ts'
import { RESOURCES } from './resources.ts'

const FIELDS: readonly Field[] = [
  { option: 'admin', path: 'isAdmin', kind: 'flag', what: '' },
  {
    option: 'external-id',
    path: 'externalId',
    kind: 'text',
    value: 'ID',
    canClear: true,
    what: '',
  },
  { option: 'attempts', path: 'primary.updb.maxAttempts', kind: 'number', value: 'N', what: '' },
  { option: 'password', path: 'primary.updb.allowed', kind: 'flag', what: '' },
  { option: 'type', path: 'type', kind: 'choice', choices: ['Default', 'Router'], what: '' },
  { option: 'role', path: 'roles', kind: 'texts', value: 'ROLE', canClear: true, what: '' },
  { option: 'tag', path: 'tags', kind: 'pairs', canClear: true, what: '' },
  { option: 'policy', path: 'policyId', kind: 'reference', to: 'policy', what: '' },
  { option: 'no-claim', path: 'claim', kind: 'clear', what: '' },
]

const readers = {
  readFile: async (path: string) => `text of ${path}`,
  readSecret: async (path: string) => `secret of ${path}`,
  idOf: async (resource: string, name: string) => `${resource}:${name}`,
}

const read = (values: OptionValues) => bodyOf(FIELDS, values, readers)

test('a body has what the options name, and nothing else', async () => {
  assert.deepEqual(await read({}), {})
  assert.deepEqual(
    await read({
      admin: true,
      attempts: '5',
      'no-password': true,
      type: 'router',
      role: ['a', 'b'],
      tag: ['a=b=c', 'floor:=3', 'isOpen:=false', 'gone:=null', 'empty='],
      policy: 'strict',
    }),
    {
      isAdmin: true,
      primary: { updb: { maxAttempts: 5, allowed: false } },
      type: 'Router',
      roles: ['a', 'b'],
      tags: { a: 'b=c', floor: 3, isOpen: false, gone: null, empty: '' },
      policyId: 'policy:strict',
    },
  )
})

test('--no- clears a field with what is nothing for its kind', async () => {
  assert.deepEqual(
    await read({ 'no-external-id': true, 'no-role': true, 'no-tag': true, 'no-claim': true }),
    { externalId: null, roles: [], tags: {}, claim: null },
  )
})

test('an invalid value is reported with its option', async () => {
  const cases: readonly (readonly [OptionValues, RegExp])[] = [
    [{ admin: true, 'no-admin': true }, /--admin and --no-admin cannot be combined/],
    [{ attempts: '1e3' }, /--attempts must be a whole number/],
    [{ attempts: '-1' }, /--attempts must be a whole number/],
    [{ attempts: '9999999999' }, /--attempts must be a whole number/],
    [{ type: 'other' }, /--type must be one of Default, Router/],
    [{ tag: ['floor'] }, /--tag must be KEY=TEXT or KEY:=JSON/],
    [{ tag: ['=x'] }, /--tag must be KEY=TEXT or KEY:=JSON/],
    [{ tag: ['a:=[1]'] }, /--tag KEY:=… takes a number, true, false, null or "text"/],
    [{ tag: ['a:=x'] }, /--tag KEY:=… takes a number/],
  ]
  for (const [values, sentence] of cases) {
    await assert.rejects(read(values), (error: unknown) => {
      assert.ok(error instanceof Misuse)
      assert.match(error.message, sentence)
      return true
    })
  }
})

test('a tag called __proto__ is a member like any other, and changes no object', async () => {
  const { tags } = await read({ tag: ['__proto__=x'] })
  assert.deepEqual(Object.keys(tags as object), ['__proto__'])
})

test('an error in a member names the option that it came from', () => {
  assert.equal(optionFor(FIELDS, 'primary.updb.maxAttempts'), '--attempts')
  assert.equal(optionFor(FIELDS, 'tags.floor'), '--tag')
  assert.equal(optionFor(FIELDS, 'typed'), undefined)
  // A policy that allows no method: COULD_NOT_VALIDATE names `primary`.
  assert.equal(optionFor(FIELDS, 'primary'), '--password')
})

test('no two fields of a command have the same option, and an option is a switch everywhere or nowhere', () => {
  const isSwitch = new Map<string, boolean>()
  for (const { one, create, update } of RESOURCES) {
    for (const fields of [create?.fields ?? [], update?.fields ?? []]) {
      const options = optionsOf(fields)
      const expected = fields.flatMap(({ option, kind, canClear }) =>
        kind === 'flag' || canClear ? [option, `no-${option}`] : [option],
      )
      assert.deepEqual(Object.keys(options).sort(), expected.sort(), one)
      for (const [name, { value }] of Object.entries(options)) {
        assert.equal(isSwitch.get(name) ?? value === undefined, value === undefined, name)
        isSwitch.set(name, value === undefined)
      }
    }
  }
})
