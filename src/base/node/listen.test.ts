import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { listenAt } from './listen.ts'

const at = { host: '127.0.0.1', port: 0 }

test('returns the port, and every error of accept goes to the caller', async (t) => {
  const server = createServer()
  t.after(() => server.close())
  const refused: string[] = []
  const port = await listenAt(server, at, ({ message }) => void refused.push(message))
  assert.equal(port, (server.address() as { port: number }).port)
  for (const message of ['accept ENOMEM', 'accept ENFILE']) server.emit('error', new Error(message))
  assert.deepEqual(refused, ['accept ENOMEM', 'accept ENFILE'])
})

test('rejects if another program has the port', async (t) => {
  const server = createServer()
  t.after(() => server.close())
  const port = await listenAt(server, at, assert.fail)
  await assert.rejects(listenAt(createServer(), { ...at, port }, assert.fail), {
    code: 'EADDRINUSE',
  })
})
