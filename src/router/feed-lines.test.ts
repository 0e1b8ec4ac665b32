import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { utf8 } from '../base/encoding.ts'
import { createLineReader, FeedFault, LARGEST_LINE, readFeedLine } from './feed-lines.ts'

const ENDED = '{"type":"ended","subject":"s1","keepUntil":1000}'
const READY = '{"type":"ready","cursor":"é1"}'

describe('lines are cut out of the bytes', () => {
  test('wherever the chunks end, also within a character', () => {
    const bytes = utf8(`${ENDED}\n${READY}\n`)
    for (let at = 0; at <= bytes.length; at++) {
      const read = createLineReader()
      const lines = [...read(bytes.subarray(0, at)), ...read(bytes.subarray(at))]
      assert.deepEqual(
        lines,
        [
          { type: 'ended', subject: 's1', keepUntil: 1000 },
          { type: 'ready', cursor: 'é1' },
        ],
        `cut at ${at}`,
      )
    }
  })

  test('one byte at a time', () => {
    const read = createLineReader()
    const lines = [...utf8(`${ENDED}\n`)].flatMap((byte) => read(Uint8Array.of(byte)))
    assert.equal(lines.length, 1)
  })

  test('a line without its end says nothing yet', () => {
    assert.deepEqual(createLineReader()(utf8(ENDED)), [])
  })

  test('a line that never ends is given up at 1 MiB, however it comes', () => {
    const tooMuch = new Uint8Array(LARGEST_LINE + 1).fill(0x20)
    assert.throws(() => createLineReader()(tooMuch), fault('a line is too long'))
    const read = createLineReader()
    assert.deepEqual(read(new Uint8Array(LARGEST_LINE).fill(0x20)), [])
    assert.throws(() => read(Uint8Array.of(0x20)), fault('a line is too long'))
  })
})

describe('a line is refused', () => {
  const hello = {
    type: 'hello',
    version: 1,
    brand: 'b',
    trustDomain: 't',
    issuers: ['https://i'],
    isSnapshot: true,
  }
  const cases: readonly (readonly [line: string | Uint8Array, complaint: string])[] = [
    ['', 'a line is not a JSON object'],
    ['null', 'a line is not a JSON object'],
    ['[]', 'a line is not a JSON object'],
    ['{"type":"ready"', 'a line is not a JSON object'],
    [Uint8Array.of(0x7b, 0xff, 0x7d), 'a line is not a JSON object'],
    // Two readers would choose differently.
    ['{"type":"ended","type":"ready","cursor":"c"}', 'a line is not a JSON object'],
    ['{"type":"ended","subject":"a","subject":"b","keepUntil":1}', 'a line is not a JSON object'],
    [`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`, 'a line is not a JSON object'],
    ['{}', 'a line has no type'],
    ['{"type":7}', 'a line has no type'],
    [JSON.stringify({ ...hello, version: 2 }), 'the version of the feed is not 1'],
    [JSON.stringify({ ...hello, version: '1' }), 'the version of the feed is not 1'],
    [JSON.stringify({ ...hello, issuers: [] }), wrong('hello')],
    [JSON.stringify({ ...hello, issuers: [''] }), wrong('hello')],
    [JSON.stringify({ ...hello, issuers: 'https://i' }), wrong('hello')],
    [JSON.stringify({ ...hello, brand: '' }), wrong('hello')],
    [JSON.stringify({ ...hello, trustDomain: null }), wrong('hello')],
    [JSON.stringify({ ...hello, isSnapshot: 'yes' }), wrong('hello')],
    [JSON.stringify({ ...hello, epoch: '' }), wrong('hello')],
    [JSON.stringify({ ...hello, epoch: 7 }), wrong('hello')],
    [JSON.stringify({ ...hello, epoch: 'e'.repeat(65) }), wrong('hello')],
    ['{"type":"keys","keys":{}}', wrong('keys')],
    ['{"type":"keys","keys":["k"]}', wrong('keys')],
    ['{"type":"cas"}', wrong('cas')],
    ['{"type":"ended","subject":"","keepUntil":1}', wrong('ended')],
    [JSON.stringify({ type: 'ended', subject: 'x'.repeat(257), keepUntil: 1 }), wrong('ended')],
    ['{"type":"ended","subject":"a","keepUntil":"1"}', wrong('ended')],
    ['{"type":"ended","subject":"a","keepUntil":1e999}', wrong('ended')],
    ['{"type":"ready"}', wrong('ready')],
    [JSON.stringify({ type: 'ready', cursor: 'x'.repeat(65) }), wrong('ready')],
    ['{"type":"heartbeat","cursor":""}', wrong('heartbeat')],
  ]
  for (const [line, complaint] of cases) {
    test(String(line).slice(0, 60), () => {
      const bytes = typeof line === 'string' ? utf8(line) : line
      assert.throws(() => readFeedLine(bytes), fault(complaint))
    })
  }
})

test('a line of a type that we do not know is passed over, also one named like what every object has', () => {
  for (const type of ['news', 'toString', '__proto__', 'constructor']) {
    assert.deepEqual(readFeedLine(utf8(JSON.stringify({ type }))), { type: 'other' })
  }
})

function wrong(type: string): string {
  return `a line of type ${type} is malformed`
}

function fault(message: string) {
  return (error: unknown) => error instanceof FeedFault && error.message === message
}
