/** A cable between the service and its PostgreSQL: it can be pulled, cut without a word, and repaired. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface Cable {
  /** The URL of the same database, at this end of the cable. */
  readonly url: string
  /** Connections are cut, and new ones too. */
  pull(): void
  /** Nothing is closed or refused, and nothing passes any more: neither on open connections nor on new ones. */
  silence(): void
  /** Open connections stay as silent as they are; new ones work, as after a failover or with a NAT entry that is gone. */
  renew(): void
  /** Connections are cut, and new ones work. */
  mend(): void
}

export async function startCable(t: TestContext, url: string): Promise<Cable> {
  const target = new URL(url)
  const open = new Set<Socket>()
  /** Whether connections of this age pass anything on. */
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
    mend() {
      isPulled = false
      age = { isSilent: false }
      cut()
    },
  }
}
