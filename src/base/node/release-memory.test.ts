import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { releaseMemory } from './release-memory.ts'

test('collects garbage, and leaves no function behind that can', async () => {
  const garbage = new WeakRef({ size: 'large' })
  // A WeakRef keeps its object until the current turn of the event loop has ended.
  await setTimeout(0)
  releaseMemory()
  assert.equal(garbage.deref(), undefined)
  assert.equal(typeof globalThis.gc, 'undefined')
  assert.equal(runInNewContext('typeof gc'), 'undefined')
})

test('gives back the space for new objects', () => {
  const survivors: unknown[] = []
  for (let i = 0; i < 400_000; i++) survivors.push({ i })
  const before = newSpace()
  survivors.length = 0
  releaseMemory()
  assert.ok(newSpace() < before, `${newSpace()} of ${before} bytes`)
})

function newSpace(): number {
  const spaces = getHeapSpaceStatistics()
  return spaces.find(({ space_name: name }) => name === 'new_space')?.physical_space_size ?? 0
}
