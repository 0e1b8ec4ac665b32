/** Connections that are opened and held against a service or a gateway, and a service that is more or less patient with them. */
import { once } from 'node:events'
import net, { type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import tls from 'node:tls'
import { eventually } from '../eventually.ts'
import { countSockets } from '../monitoring/descriptors.ts'
import { changeConfig } from './child-home.ts'
import { type Child, type ChildOptions, type ChildService, startChild } from './child-service.ts'
import { preparedHomeOn } from './prepared-home.ts'

/** A record header of a handshake that announces more than follows. */
export const HALF_CLIENT_HELLO = Buffer.from('1603010200010001fc0303', 'hex')

export const IMPATIENT = { header: '1s', request: '2s', idle: '1s', write: '1s' }
/** Nothing ends because of them while a test runs. */
export const PATIENT = { header: '5m', request: '5m', idle: '5m', write: '5m' }

/** With the metrics on the listener. */
export async function startWithTimeouts(
  t: TestContext,
  timeouts: typeof IMPATIENT,
  options: ChildOptions & { readonly database?: 'SQLite' | 'PostgreSQL' } = {},
): Promise<ChildService> {
  const { database = 'SQLite', ...rest } = options
  const home = await preparedHomeOn(t, database)
  await changeConfig(home, (config) => {
    for (const listener of config.web) {
      listener.options = { timeouts }
      listener.apis.push({ binding: 'metrics' })
    }
  })
  return startChild(t, { ...rest, home })
}

/** A connection that this side never closes, even when the other side does. */
export async function hold(
  t: TestContext,
  port: number,
  { bytes = Buffer.alloc(0), localPort }: { bytes?: Buffer; localPort?: number | undefined } = {},
): Promise<Socket> {
  const from = localPort === undefined ? {} : { localAddress: '127.0.0.1', localPort }
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true, ...from })
  socket.on('error', () => undefined)
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  if (bytes.length > 0) socket.write(bytes)
  return socket
}

export const holdMany = (t: TestContext, port: number, count: number) =>
  Promise.all(Array.from({ length: count }, () => hold(t, port)))

export async function holdSecured(t: TestContext, port: number, text: string): Promise<Socket> {
  // If the underlying socket stays open, the TLS socket does too.
  const socket = tls.connect({ socket: await hold(t, port), rejectUnauthorized: false })
  socket.on('error', () => undefined)
  t.after(() => socket.destroy())
  await once(socket, 'secureConnect')
  if (text !== '') socket.write(text)
  return socket
}

export const returnsTo = (child: Pick<Child, 'process'>, level: number) =>
  eventually(
    async () => ((await countSockets(child)) <= level ? true : undefined),
    `no more than ${level} sockets`,
  )
