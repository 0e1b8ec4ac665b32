import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServerUnavailable } from '../../../client/client.ts'
import type { ListQuery } from '../../api/edge-api.ts'
import { CommandFailed, EXIT } from '../../terminal/io.ts'
import type { Row } from '../entities/columns.ts'
import { readAll } from '../entities/list-entities.ts'
import { follow, lineOf } from './events.ts'

/** The audit log as the API tells it: `at desc` or `at`, since some time, in pages. */
function logOf(events: Row[], mostRows = 500) {
  let fails: Error | undefined
  let asked = 0
  return {
    asked: () => asked,
    failWith(error: Error | undefined) {
      fails = error
    },
    async list(_path: string, { filter = '', sort = '', limit = 10, offset = 0 }: ListQuery = {}) {
      asked += 1
      if (fails !== undefined) throw fails
      const [, since = ''] = /^at >= datetime\("(.*?)"\)/.exec(filter) ?? []
      const rows = events
        .filter(({ at }) => String(at) >= since)
        .sort((a, b) => String(a['at']).localeCompare(String(b['at'])))
      if (sort === 'at desc') rows.reverse()
      const page = rows.slice(offset, offset + Math.min(limit, mostRows))
      return { rows: page, offset, total: rows.length }
    },
  }
}

const at = (second: number) =>
  `2026-01-31T12:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}.000Z`
const event = (id: string, second: number): Row => ({ id, at: at(second), type: 'login.failed' })

/** Some rounds after each thing that happens. */
async function followed(
  events: Row[],
  log: ReturnType<typeof logOf>,
  limit: number,
  happen: readonly (() => void)[],
) {
  const stop = new AbortController()
  const seen: string[] = []
  const warnings: string[] = []
  const running = follow(
    {
      api: log,
      show: ({ id }) => seen.push(String(id)),
      warn: (line) => warnings.push(line),
      signal: stop.signal,
      pauseMilliseconds: 1,
    },
    undefined,
    limit,
  )
  let isOver = false
  const ended = running.finally(() => {
    isOver = true
  })
  ended.catch(() => undefined)
  const rounds = async () => {
    const enough = log.asked() + 5
    while (!isOver && log.asked() < enough) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await rounds()
  for (const next of happen) {
    next()
    await rounds()
  }
  stop.abort()
  await ended
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length)
  return { seen, warnings }
}

test('what happens after the start is shown once, and what the limit left out never', async () => {
  const events = [event('old', 10), event('a', 11), event('b', 12)]
  const { seen } = await followed(events, logOf(events), 2, [
    () => events.push(event('c', 13)),
    () => events.push(event('d', 100), event('e', 101)),
  ])
  assert.deepEqual(seen, ['a', 'b', 'c', 'd', 'e'])
})

test('an event that is committed late, behind newer ones, is shown all the same', async () => {
  const events = [event('a', 40)]
  const { seen } = await followed(events, logOf(events), 5, [
    () => events.push(event('c', 50)),
    () => events.push(event('late', 45)),
  ])
  assert.deepEqual(seen, ['a', 'c', 'late'])
})

test('waits for a server that is away for a while, and reports it once', async () => {
  const events = [event('a', 1)]
  const log = logOf(events)
  const away = new ServerUnavailable('NO_ANSWER', 'no answer', { mayHaveHappened: false })
  const { seen, warnings } = await followed(events, log, 5, [
    () => log.failWith(away),
    () => {
      events.push(event('b', 2))
      log.failWith(undefined)
    },
  ])
  assert.deepEqual(seen, ['a', 'b'])
  assert.deepEqual(warnings, ['latchkey: the server does not answer; still trying'])
})

test('a user who may no longer read the log is told so', async () => {
  const events = [event('a', 1)]
  const log = logOf(events)
  const running = followed(events, log, 5, [
    () => log.failWith(new CommandFailed('FORBIDDEN', EXIT.denied)),
  ])
  await assert.rejects(running, { exit: EXIT.denied })
})

test('all of a list is every row once, also when one is made between two pages', async () => {
  const events = Array.from({ length: 7 }, (_, index) => event(`e${index}`, index + 10))
  const log = logOf(events, 3)
  let pages = 0
  const api = {
    list: (path: string, query?: ListQuery) => {
      pages += 1
      if (pages === 2) events.push(event('new', 1))
      return log.list(path, query)
    },
  }
  const told: number[] = []
  const { rows } = await readAll(api, '/events', { sort: 'at' }, (done) => told.push(done))
  const ids = rows.map(({ id }) => id)
  assert.deepEqual(ids, ['e0', 'e1', 'e2', 'e3', 'e4', 'e5', 'e6'])
  assert.deepEqual(told, [3, 5])
})

test('an event in one line has nothing in it that steers a terminal', () => {
  const line = lineOf({ ...event('a', 1), reason: 'x', address: '\u001b[2J', requestId: null })
  assert.equal(line, `${at(1)}  login.failed: x  address=\u{fffd}[2J`)
})
