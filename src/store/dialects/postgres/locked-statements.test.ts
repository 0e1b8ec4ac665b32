/** D-297: a statement that waits for a locked table does not occupy every connection. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseError } from 'pg'
import { createLockedStatements } from './locked-statements.ts'

const LOCKED = /a table that the statement needs is locked/

function world() {
  let time = 0
  const { run } = createLockedStatements(() => time)
  return {
    pass: (milliseconds: number) => {
      time += milliseconds
    },
    run,
    timeOut: (text: string, where?: string) => assert.rejects(run(text, () => lockTimeout(where))),
  }
}

function lockTimeout(where?: string): Promise<never> {
  const error = new DatabaseError('canceling statement due to lock timeout', 0, 'error')
  return Promise.reject(Object.assign(error, { code: '55P03', where }))
}

const works = () => Promise.resolve('result')

test('a statement that timed out fails at once, and others run', async () => {
  const { run, timeOut } = world()
  await timeOut('a')
  await assert.rejects(run('a', works), LOCKED)
  assert.equal(await run('b', works), 'result')
})

test('after a second one caller tries again, and all may run once it succeeds', async () => {
  const { run, timeOut, pass } = world()
  await timeOut('a')
  pass(1_000)
  const attempt = Promise.withResolvers<string>()
  const first = run('a', () => attempt.promise)
  await assert.rejects(run('a', works), LOCKED)
  attempt.resolve('free')
  assert.equal(await first, 'free')
  assert.equal(await run('a', works), 'result')
})

test('an attempt that times out too begins the pause anew; another failure ends it', async () => {
  const { run, timeOut, pass } = world()
  await timeOut('a')
  pass(1_000)
  await timeOut('a')
  await assert.rejects(run('a', works), LOCKED)
  pass(1_000)
  await assert.rejects(
    run('a', () => Promise.reject(new Error('on purpose'))),
    /on purpose/,
  )
  assert.equal(await run('a', works), 'result')
})

test('a locked row delays only those who need it', async () => {
  const { run, timeOut } = world()
  await timeOut('a', 'while updating tuple (0,1) in relation "identities"')
  assert.equal(await run('a', works), 'result')
})
