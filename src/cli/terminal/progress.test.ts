/** What is told of a command that takes its time, and when. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { milliseconds } from '../../base/time/duration.ts'
import { createProgress } from './progress.ts'

function told(isTTY: boolean, times: readonly number[]): string[] {
  const written: string[] = []
  let now = 0
  const clock = { uptime: () => milliseconds(now) }
  const progress = createProgress('Writing', clock, { isTTY, write: (text) => written.push(text) })
  for (const at of [0, ...times]) {
    now = at
    progress.tell(at, 40_000)
  }
  progress.end()
  return written
}

test('nothing is reported of what takes less than a second', () => {
  for (const isTTY of [true, false]) assert.deepEqual(told(isTTY, [10, 500, 999]), [])
})

test('a terminal shows one line that changes, and goes at the end', () => {
  assert.deepEqual(told(true, [1_000, 1_050, 1_100]), [
    '\rWriting: 2 % (1000 of 40000 rows)',
    '\rWriting: 2 % (1100 of 40000 rows)',
    '\r\u001b[K',
  ])
})

test('otherwise a line is printed every ten seconds', () => {
  assert.deepEqual(told(false, [1_000, 9_999, 10_000, 12_000, 19_999, 21_000]), [
    'Writing: 25 % (10000 of 40000 rows)\n',
    'Writing: 52 % (21000 of 40000 rows)\n',
  ])
})

test('nothing to do is all of it', () => {
  const written: string[] = []
  let now = 0
  const clock = { uptime: () => milliseconds(now) }
  const progress = createProgress('Writing', clock, { write: (text) => written.push(text) })
  progress.tell(0, 0)
  now = 10_000
  progress.tell(0, 0)
  assert.deepEqual(written, ['Writing: 100 % (0 of 0 rows)\n'])
})

test('the time before the first step, such as that of typing a passphrase, does not count', () => {
  for (const isTTY of [true, false]) {
    const written: string[] = []
    let now = 0
    const clock = { uptime: () => milliseconds(now) }
    const out = { isTTY, write: (text: string) => written.push(text) }
    const progress = createProgress('Writing', clock, out)
    now = 60_000
    progress.tell(1, 16)
    now = 60_999
    progress.tell(16, 16)
    progress.end()
    assert.deepEqual(written, [])
  }
})
