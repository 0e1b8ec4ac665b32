/** The parts of the bench that need no server: arguments, statistics, table, page, profile, /proc. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readArguments } from './arguments.ts'
import { readAnswer } from './generator/connection.ts'
import { runLoad } from './generator/load.ts'
import { OPERATION_NAMES } from './operations.ts'
import { topOf } from './profile.ts'
import { replaceTable } from './report.ts'
import { cpuMicroseconds, memoryBytes, preciseCpuMicroseconds } from './servers/processes.ts'
import { median, spreadOf } from './statistics.ts'
import { isMet, markdownTable, type Row, short, textTable } from './table.ts'

const ROW: Row = {
  title: '`current-identity`',
  measured: { median: 0.3456, least: 0.3, most: 1234.5 },
  unit: 'npop',
  target: { atMost: 0.35 },
  cpu: { median: 190.4, least: 1, most: 2 },
}

test('without arguments everything is measured but what takes long', () => {
  const { operations, profile, isSaved, rounds, milliseconds } = readArguments([])
  assert.deepEqual(
    OPERATION_NAMES.filter((name) => !operations.includes(name)),
    ['store-size'],
  )
  assert.equal(profile, undefined)
  assert.equal(isSaved, false)
  assert.deepEqual([rounds, milliseconds], [3, 3000])
})

test('--big measures the large store too, and --only only what it names, in the order of the table', () => {
  assert.deepEqual(readArguments(['--big']).operations, OPERATION_NAMES)
  const { operations } = readArguments(['--only', 'idle', '--only', 'refresh'])
  assert.deepEqual(operations, ['refresh', 'idle'])
})

for (const [args, sentence] of [
  [['--only', 'nothing'], /--only must be one of current-identity, .* \(got "nothing"\)/],
  [['--profile', 'idle'], /--profile must be one of current-identity, .* \(got "idle"\)/],
  [['--rounds', '0'], /--rounds must be a whole number from 1 to 100 \(got "0"\)/],
  [['--rounds', '1e1'], /--rounds must be .* \(got "1e1"\)/],
  [['--seconds', ''], /--seconds must be .* \(got ""\)/],
  [['--seconds', '601'], /--seconds must be a whole number from 1 to 600 \(got "601"\)/],
  [['--save', '--only', 'idle'], /--save needs the whole table/],
  [['--lists', '--profile', 'refresh'], /--lists and --profile cannot be combined/],
  [['--profile', 'refresh', '--save'], /--profile cannot be combined with --save/],
  [['--postgres', '--save'], /--postgres cannot be combined with --lists or --save/],
  [['--lists', '--big'], /--lists cannot be combined/],
  [['--nothing'], /--nothing/],
  [['refresh'], /refresh/],
  [['--only'], /--only/],
] as const) {
  test(`explains what is wrong with: ${args.join(' ')}`, () => {
    assert.throws(() => readArguments(args), sentence)
  })
}

test('the median of an even number of values is between the two in the middle', () => {
  assert.equal(median([9, 1, 5]), 5)
  assert.equal(median([10, 1, 3, 2]), 2.5)
  assert.deepEqual(spreadOf([3, 1, 2]), { median: 2, least: 1, most: 3 })
  assert.throws(() => spreadOf([]), /nothing was measured/)
})

test('a target is met at its very number', () => {
  const measured = { median: 2, least: 2, most: 2 }
  assert.equal(isMet({ measured, target: { atMost: 2 } }), true)
  assert.equal(isMet({ measured, target: { atMost: 1.99 } }), false)
  assert.equal(isMet({ measured, target: { atLeast: 2 } }), true)
  assert.equal(isMet({ measured, target: { atLeast: 2.01 } }), false)
  assert.equal(isMet({ measured, target: 'none' }), undefined)
})

test('a number has three significant digits at most', () => {
  assert.deepEqual([1234.5, 99.96, 12.345, 1, 0.3456].map(short), [
    '1235',
    '100',
    '12.3',
    '1',
    '0.35',
  ])
})

test('the table is the same in a terminal and on a page', () => {
  const cells = ['0.35 npop', '0.3–1235', '≤ 0.35', 'yes', '190 µs']
  const [, text = ''] = textTable([ROW]).split('\n')
  assert.deepEqual(text.split(/ {2,}/), ['current-identity', ...cells])
  const [, , line = ''] = markdownTable([ROW]).split('\n')
  assert.equal(line, `| ${['`current-identity`', ...cells, ''].join(' | ')} |`)
})

test('saving replaces what is between the marks and nothing else', () => {
  const page = [
    'before',
    '<!-- Written by `npm run bench -- --save`. -->',
    'old',
    '<!-- The end of what it writes. -->',
    'after',
  ].join('\n')
  const saved = replaceTable(page, ['a machine'], [ROW])
  assert.match(saved, /^before\n<!-- Written .*\n\n- a machine\n\n\| Operation /)
  assert.match(saved, /\n<!-- The end of what it writes. -->\nafter$/)
  assert.doesNotMatch(saved, /old/)
  assert.equal(replaceTable(saved, ['a machine'], [ROW]), saved)
  assert.throws(() => replaceTable('no marks', [], []), /docs\/performance.md has no/)
})

test('the top list of a profile adds up a function wherever it was called, and leaves idle time out', () => {
  const node = (id: number, functionName: string, url = '') => ({
    id,
    callFrame: { functionName, url, lineNumber: 6 },
  })
  const nodes = [
    node(1, '(idle)'),
    node(2, 'sign', 'file:///home/someone/src/a.ts'),
    node(3, 'sign', 'file:///home/someone/src/a.ts'),
    node(4, ''),
  ]
  const profile = { nodes, samples: [1, 2, 3, 4], timeDeltas: [1000, 50, 25, 25] }
  assert.deepEqual(topOf(profile, 9), [' 75.0 %  sign  src/a.ts:7', ' 25.0 %  (anonymous)'])
  assert.equal(topOf(profile, 1).length, 1)
})

test('an answer is read when all of it is there', () => {
  const text = 'HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 3\r\n\r\nöx'
  const bytes = Buffer.from(text)
  for (let length = 0; length < bytes.length; length++) {
    assert.equal(readAnswer(bytes.subarray(0, length)), undefined)
  }
  assert.deepEqual(readAnswer(bytes), { status: 302, location: '/x', body: 'öx' })
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  assert.throws(() => readAnswer(Buffer.from(chunked)), /no content-length/)
})

test('a load ends when everything that was prepared is used up, and fails with its first failure', async () => {
  let left = 5
  const work = async () => left-- > 0
  const { count } = await runLoad([work, work], Number.POSITIVE_INFINITY)
  assert.equal(count, 5)
  const failing = async () => {
    throw new Error('no tokens')
  }
  await assert.rejects(runLoad([failing], Number.POSITIVE_INFINITY), /no tokens/)
})

test('/proc says what this process has used', { skip: process.platform !== 'linux' }, () => {
  assert.ok(preciseCpuMicroseconds(process.pid) > 0)
  assert.ok(cpuMicroseconds(process.pid) >= 0)
  assert.ok(memoryBytes(process.pid) > 2 ** 20)
})
