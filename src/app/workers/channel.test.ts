import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ChannelClosed, openChannel, type Peer, type Question } from './channel.ts'

type Theirs = { readonly connection: Question }

// Node says that the process is gone only when it has confirmed the socket, which it never does.
test('a socket that a killed process has not confirmed is refused, and can be given to another', {
  timeout: 30_000,
}, async (t) => {
  const child = spawn(process.execPath, ['--eval', 'process.on("message", () => {})'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  t.after(() => child.kill('SIGKILL'))
  await once(child, 'spawn')
  child.kill('SIGSTOP')
  const channel = openChannel<Record<never, never>, Theirs>(child as Peer, {})
  const socket = await acceptedSocket(t)
  const asked = channel.ask('connection', undefined, socket)
  const next = channel.ask('connection', undefined, socket)
  child.kill('SIGKILL')
  await assert.rejects(asked, ChannelClosed)
  await assert.rejects(next, ChannelClosed)
  await channel.closed
  assert.equal(socket.destroyed, false)
})

async function acceptedSocket(t: TestContext): Promise<Socket> {
  const server = net.createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const client = net.connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [socket] = await accepted
  t.after(() => {
    client.destroy()
    socket.destroy()
    server.close()
  })
  return socket
}
