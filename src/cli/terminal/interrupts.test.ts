import assert from 'node:assert/strict'
import { test } from 'node:test'
import { milliseconds } from '../../base/time/duration.ts'
import { createInterrupts } from './interrupts.ts'
import { CommandFailed, EXIT } from './io.ts'
import { withProgress } from './waiting.ts'

function interruptsAt() {
  let now = 0
  let left = 0
  const clock = { uptime: () => milliseconds(now) }
  const interrupts = createInterrupts(clock, () => {
    left += 1
  })
  return {
    interrupts,
    left: () => left,
    pressAt(at: number) {
      now = at
      interrupts.interrupt()
    },
  }
}

test('an interrupt ends the process if no handler is registered', () => {
  const { pressAt, left, interrupts } = interruptsAt()
  assert.equal(interrupts.hasCome, false)
  pressAt(0)
  assert.equal(left(), 1)
  assert.equal(interrupts.hasCome, true)
})

test('does not call a handler that was unregistered', () => {
  const { pressAt, left, interrupts } = interruptsAt()
  let called = 0
  interrupts.on(() => {
    called += 1
  })()
  pressAt(0)
  assert.deepEqual({ called, left: left() }, { called: 0, left: 1 })
})

test('the first interrupt calls every handler, and the second one ends the process', () => {
  const { pressAt, left, interrupts } = interruptsAt()
  const called: string[] = []
  interrupts.on(() => called.push('outer'))
  interrupts.on(() => called.push('inner'))
  pressAt(0)
  assert.deepEqual({ called, left: left() }, { called: ['outer', 'inner'], left: 0 })
  pressAt(1_000)
  assert.deepEqual({ called, left: left() }, { called: ['outer', 'inner'], left: 1 })
})

test('does not count an interrupt that npm forwards as a second one', () => {
  const { pressAt, left, interrupts } = interruptsAt()
  interrupts.on(() => undefined)
  pressAt(0)
  pressAt(100)
  assert.equal(left(), 0)
})

test('an interrupt ends waiting for a server with exit code 130', async () => {
  const { interrupts } = interruptsAt()
  const io = { progress: () => undefined, onInterrupt: interrupts.on }
  const response = Promise.withResolvers<string>()
  const waiting = withProgress(io, 'Waiting', response.promise)
  interrupts.interrupt()
  await assert.rejects(waiting, new CommandFailed('given up', EXIT.cancelled))
  // A later answer of the server is ignored, and its failure is not an unhandled rejection.
  response.reject(new Error('too late'))
})

test('finished work unregisters its handler', async () => {
  const { interrupts, left } = interruptsAt()
  const io = { progress: () => undefined, onInterrupt: interrupts.on }
  assert.equal(await withProgress(io, 'Waiting', Promise.resolve('done')), 'done')
  await assert.rejects(withProgress(io, 'Waiting', Promise.reject(new Error('no'))), /^Error: no$/)
  interrupts.interrupt()
  assert.equal(left(), 1)
})
