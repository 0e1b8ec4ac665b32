/**
 * How a running service ends: it takes nothing new, finishes what it has begun, and goes.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { test } from 'node:test'
import { connectRaw } from '../support/edge/raw-connection.ts'
import { exchange, REDIRECT_URI } from '../support/login/login.ts'
import { beginSlowLogin } from '../support/login/slow-login.ts'
import { isRefused } from '../support/ports.ts'
import { homeWithDatabase } from '../support/process/child-home.ts'
import {
  type ChildService,
  spawnLatchkey,
  startChild,
  waitFor,
} from '../support/process/child-service.ts'

const untilRefused = ({ port }: ChildService) =>
  waitFor(
    () => isRefused(port),
    () => 'a refused connection',
  )

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} lets a running request finish, refuses new connections, and ends with 0`, async (t) => {
    const service = await startChild(t)
    const login = await beginSlowLogin(t, service)
    service.process.kill(signal)
    await untilRefused(service)
    assert.equal(service.process.exitCode, null, 'it waits for the request')
    login.finish()
    const reply = await login.connection.reply()
    assert.equal(reply?.status, 302)
    const answer = new URL(reply.header('location') ?? '').searchParams
    const { code, stderr } = await service.finished
    assert.equal(code, 0)
    assert.match(stderr, /"msg":"stopped"/)

    // What was answered was written: the next start exchanges the code.
    const again = await startChild(t, { home: service.home })
    const tokens = await exchange(again, {
      code: answer.get('code') ?? '',
      code_verifier: login.verifier,
      redirect_uri: REDIRECT_URI,
    })
    assert.equal(tokens.status, 200, tokens.text)
    assert.equal((await again.stop()).code, 0)
  })
}

test('connections that ask for nothing do not hold the exit', async (t) => {
  const service = await startChild(t)
  // One that had an answer and is kept alive, one that has sent nothing, and one that never began its handshake.
  const used = await connectRaw(service)
  t.after(() => used.socket.destroy())
  used.send(`GET /version HTTP/1.1\r\nhost: ${new URL(service.baseUrl).host}\r\n\r\n`)
  assert.equal((await used.reply())?.status, 200)
  const fresh = await connectRaw(service)
  t.after(() => fresh.socket.destroy())
  const silent = net.connect(service.port, '127.0.0.1')
  t.after(() => silent.destroy())
  silent.on('error', () => undefined)
  await once(silent, 'connect')

  const { code, stderr } = await service.stop()
  assert.equal(code, 0)
  assert.match(stderr, /"msg":"stopped"/)
  assert.doesNotMatch(stderr, /the grace period of the stop is over/)
})

test('a second signal ends the process at once', async (t) => {
  const service = await startChild(t)
  const login = await beginSlowLogin(t, service)
  service.process.kill('SIGTERM')
  await untilRefused(service)
  service.process.kill('SIGTERM')
  const { code, stderr } = await service.finished
  assert.equal(code, 1)
  assert.doesNotMatch(stderr, /"msg":"stopped"/)
  assert.equal(await login.connection.reply(), undefined)
})

test('a Ctrl-C that npm hands on is one key, not two', async (t) => {
  const service = await startChild(t)
  const login = await beginSlowLogin(t, service)
  service.process.kill('SIGINT')
  service.process.kill('SIGINT')
  await untilRefused(service)
  login.finish()
  assert.equal((await login.connection.reply())?.status, 302)
  assert.equal((await service.finished).code, 0)
})

test('signals that come while the service starts are neither lost nor deadly', async (t) => {
  const home = await homeWithDatabase(t)
  const child = spawnLatchkey(t, ['run', '--home', home])
  await waitFor(
    () => child.output.stderr.includes('a signing key was created'),
    () => 'the first work of a start',
    child,
  )
  child.process.kill('SIGHUP')
  child.process.kill('SIGTERM')
  const { code, stderr } = await child.finished
  assert.equal(code, 0)
  assert.match(stderr, /"signal":"SIGTERM","msg":"stopping"/)
})
