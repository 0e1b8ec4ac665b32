/** How a command reads its arguments. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXIT, type Io, Misuse } from '../terminal/io.ts'
import { command, ForeignOption } from './command.ts'

const io = {} as Io

/** A command that remembers what it was called with. */
function remembering() {
  const calls: unknown[] = []
  const one = command({
    words: 'cut bread',
    what: 'cut bread',
    audience: 'person',
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
  await one.run(['--', '--to'], io)
  assert.deepEqual(calls, [
    { values: { thick: true, for: ['a', 'b'] }, operands: ['rye', 'saw'] },
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
    [['rye', '--to'], "Option '--to <value>' argument missing"],
    [['rye', '--thick=very'], "Option '--thick' does not take an argument"],
    [['rye', '-x'], "Unknown option '-x'"],
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
