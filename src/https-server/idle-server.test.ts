/** A server without connections does no work. D-348. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { eventually } from '../../test/support/eventually.ts'
import { answer, get, startHttpsServer } from '../../test/support/https-server.ts'
import { watchIntervals } from '../../test/support/intervals.ts'
import { seconds } from '../base/time/duration.ts'

test('D-348: checks no timeouts before the first connection, nor after the last one', async (t) => {
  const intervals = watchIntervals(t)
  const { connect } = await startHttpsServer(t, (_, response) => answer(response, 'here'))
  assert.equal(intervals(), 0)
  for (let i = 0; i < 2; i++) {
    const connection = await connect()
    connection.send(get('/'))
    assert.equal((await connection.reply())?.text, 'here')
    assert.equal(intervals(), 2, 'those of the server and of Node')
    connection.socket.destroy()
    await eventually(() => intervals() === 0 || undefined, 'no interval runs')
  }
})

test('D-348: a connection after an idle time has the same time limits', async (t) => {
  const intervals = watchIntervals(t)
  const { connect } = await startHttpsServer(t, (_, response) => answer(response, 'here'), {
    timeouts: { header: seconds(1), request: seconds(2), idle: seconds(60), write: seconds(60) },
  })
  for (let i = 0; i < 2; i++) {
    const connection = await connect()
    const closed = once(connection.socket, 'close')
    connection.send('GET / HTTP/1.1\r\nhost: local')
    assert.equal((await connection.reply())?.status, 408)
    await closed
    await eventually(() => intervals() === 0 || undefined, 'no interval runs')
  }
})
