/** How a command reads its arguments. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXIT, type Io, Misuse } from '../terminal/io.ts'
import { commandFor, ForeignOption } from './command.ts'

const io = {} as Io
const command = commandFor('person')

/** A command that remembers what it was called with. */
function remembering() {
  const calls: unknown[] = []
  const one = command({
    words: 'cut bread',
    what: 'cut bread',
    operands: [{ name: 'LOAF' }, { name: 'KNIFE', isOptional: true }],
    options: {
      thick: { what: 'in thick slices' },
      for: { value: 'NAME', what: 'who eats it', isList: true },
      to: { value: 'PLATE', what: 'where it goes' },
    },
    examples: [],
    load: async () => async (values, _io, operands) => {
      calls.push({ values: { ...values }, operands })
      return EXIT.ok
    },
  })
  return { one, calls }
}

test('switches, values, lists and operands come as they are declared', async () => {
  const { one, calls } = remembering()
  await one.run(['rye', '--thick', '--for', 'a', '--for=b', 'saw'], io)
  await one.run(['rye', '--thick', '--thick'], io)
  await one.run(['--', '--to'], io)
  assert.deepEqual(calls, [
    { values: { thick: true, for: ['a', 'b'] }, operands: ['rye', 'saw'] },
    { values: { thick: true }, operands: ['rye'] },
    { values: {}, operands: ['--to'] },
  ])
})

test('what is missing, empty, too much or unknown is refused, and nothing is run', async () => {
  const cases: readonly (readonly [args: string[], complaint: string])[] = [
    [[], '"cut bread" needs a LOAF'],
    [[''], '"cut bread" needs a LOAF'],
    [['rye', ''], '"cut bread" needs a KNIFE'],
    [['rye', 'saw', 'more'], '"cut bread" takes no "more"'],
    [['rye', '--to', ''], '--to is empty'],
    [['rye', '--for', 'a', '--for', ''], '--for is empty'],
    [['rye', '--to'], '--to needs a value: --to PLATE'],
    [
      ['rye', '--to', '-1'],
      '--to needs a value: --to PLATE. For one that begins with a dash, write --to=PLATE',
    ],
    [['rye', '--thick=very'], '--thick takes no value'],
    [['rye', '-x'], 'unknown option -x'],
    // D-476: otherwise the first value would be dropped without a word.
    [['rye', '--to', 'a', '--to=b'], '--to can be given only once'],
  ]
  const { one, calls } = remembering()
  for (const [args, message] of cases) {
    await assert.rejects(one.run(args, io), (error: Error) => {
      assert.ok(error instanceof Misuse)
      assert.equal(error.message, message)
      return true
    })
  }
  await assert.rejects(one.run(['rye', '--home', 'x'], io), (error: Error) => {
    assert.ok(error instanceof ForeignOption)
    return error.option === 'home'
  })
  assert.deepEqual(calls, [])
})

test('a command without operands names the one that it got, and articles fit', async () => {
  const none = command({ ...BREAD, operands: [] })
  await assert.rejects(none.run(['rye'], io), new Misuse('"cut bread" takes no "rye"'))
  const one = command({ ...BREAD, operands: [{ name: 'ID' }] })
  await assert.rejects(one.run([], io), new Misuse('"cut bread" needs an ID'))
})

const BREAD = {
  words: 'cut bread',
  what: 'cut bread',
  options: {},
  examples: [],
  load: async () => async () => EXIT.ok,
} as const
