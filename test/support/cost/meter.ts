/** Sends raw requests to a service in a process of its own, and measures the processor time that they cost there. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { connectRaw, type RawConnection } from '../edge/raw-connection.ts'
import type { ChildService } from '../process/child-service.ts'
import { cpuMilliseconds } from './cpu.ts'
import type { Sent } from './worst-requests.ts'

export interface Meter {
  /** The status of the answer. */
  send(request: Sent): Promise<number>
  /** Milliseconds for this one request. Its noise is added to the cost, and never taken away. */
  glance(request: Sent): Promise<number>
  /** Milliseconds for one request, as a mean of `count` that are sent one after the other. */
  cost(request: Sent, count: number): Promise<number>
}

export async function openMeter(t: TestContext, service: ChildService): Promise<Meter> {
  const { host } = new URL(service.baseUrl)
  const first = Buffer.from(`GET /health-checks/live HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  let kept: RawConnection[] = []
  t.after(() => closeAll(kept))

  /** A request first: the service finishes the handshake after its client, and a handshake costs more than a request. */
  async function connect(): Promise<RawConnection> {
    const connection = await connectRaw(service)
    connection.send(first)
    assert.equal((await connection.reply())?.status, 200)
    return connection
  }

  async function sendTo(connection: RawConnection, { what, bytes }: Sent) {
    connection.send(bytes)
    const reply = await connection.reply()
    assert.ok(reply !== undefined, `no answer: ${what}`)
    assert.ok(reply.status !== 413 && reply.status !== 431, `${what} does not fit the limits`)
    return { status: reply.status, isClosed: reply.header('connection') === 'close' }
  }

  async function send(request: Sent) {
    const connection = kept.pop() ?? (await connect())
    const answer = await sendTo(connection, request)
    if (answer.isClosed) connection.socket.destroy()
    else kept.push(connection)
    return answer
  }

  return {
    send: async (request) => (await send(request)).status,
    async glance(request) {
      if (kept.length === 0) kept.push(await connect())
      const before = cpuMilliseconds(service)
      await send(request)
      return cpuMilliseconds(service) - before
    },
    async cost(request, count) {
      const { isClosed } = await send(request)
      const missing = (isClosed ? count : 1) - kept.length
      for (let i = 0; i < missing; i++) kept.push(await connect())
      const before = cpuMilliseconds(service)
      for (let i = 0; i < count; i++) await send(request)
      const used = cpuMilliseconds(service) - before
      closeAll(kept.slice(1))
      kept = kept.slice(0, 1)
      return used / count
    },
  }
}

function closeAll(connections: readonly RawConnection[]): void {
  for (const { socket } of connections) socket.destroy()
}
