/** A cable between the service and its PostgreSQL: it can be pulled, silenced, and repaired. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface Cable {
  /** The URL of the same database, at this end of the cable. */
  readonly url: string
  /** Cuts all connections, and every new one. */
  pull(): void
  /** Closes and refuses nothing, but passes no more data: neither on open connections nor on new ones. */
  silence(): void
  /** New connections work, open ones stay silent, as after a failover or with a forgotten NAT entry. */
  renew(): void
  /** Cuts all connections; new ones work. */
  repair(): void
}

export async function startCable(t: TestContext, url: string): Promise<Cable> {
  const target = new URL(url)
  const open = new Set<Socket>()
  /** Whether connections of this age pass data. */
  let age = { isSilent: false }
  let isPulled = false
  const server = createServer((near) => {
    if (isPulled) return void near.destroy()
    const own = age
    const far = connect(Number(target.port), target.hostname)
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (bytes) => own.isSilent || far.write(bytes))
    far.on('data', (bytes) => own.isSilent || near.write(bytes))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
  t.after(() => {
    server.close()
    cut()
  })
  const near = new URL(url)
  near.port = String((server.address() as AddressInfo).port)
  return {
    url: near.href,
    pull() {
      isPulled = true
      cut()
    },
    silence() {
      age.isSilent = true
    },
    renew() {
      age = { isSilent: false }
    },
    repair() {
      isPulled = false
      age = { isSilent: false }
      cut()
    },
  }
}
