import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { getPriority } from 'node:os'
import { test } from 'node:test'
import { promisify } from 'node:util'

const isLinux = process.platform === 'linux'

/** In a process of its own: a priority that was lowered can only be raised again by an administrator. */
const PROGRAM = `
  import { readdirSync, readFileSync } from 'node:fs'
  import { readFile } from 'node:fs/promises'
  import { lowerPoolPriority } from '${new URL('./pool-priority.ts', import.meta.url)}'
  await readFile('/dev/null')
  lowerPoolPriority()
  const priorities = readdirSync('/proc/self/task').map((thread) => {
    const [, name, rest] = /^\\d+ \\((.*)\\) (.*)$/s.exec(readFileSync('/proc/self/task/' + thread + '/stat', 'utf8'))
    return [name, Number(rest.split(' ')[16])]
  })
  console.log(JSON.stringify(priorities))
`

test('D-374: the threads of the pool have a lower priority, and no other thread', {
  skip: !isLinux && 'only Linux has priorities of threads',
}, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    PROGRAM,
  ])
  const priorities: [string, number][] = JSON.parse(stdout)
  const pool = priorities.filter(([name]) => name === 'libuv-worker')
  assert.notEqual(pool.length, 0)
  // The tests themselves may run at a lower priority.
  const ours = getPriority()
  for (const [name, niceness] of priorities) {
    assert.equal(niceness, name === 'libuv-worker' ? Math.min(ours + 10, 19) : ours, name)
  }
})
