/** A cable between the service and its PostgreSQL: it can be pulled, silenced, and repaired, and counts round trips. */
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { listenUntilEnd } from '../ports.ts'

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
  /** How often the client has asked the server and had to wait for an answer, since the last call. */
  takeRoundTrips(): number
}

export async function startCable(t: TestContext, url: string): Promise<Cable> {
  const target = new URL(url)
  const open = new Set<Socket>()
  /** Whether connections of this age pass data. */
  let age = { isSilent: false }
  let isPulled = false
  let roundTrips = 0
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
    const count = countRoundTrips(() => {
      roundTrips += 1
    })
    near.on('data', (bytes: Buffer) => {
      count(bytes)
      if (!own.isSilent) far.write(bytes)
    })
    far.on('data', (bytes) => own.isSilent || near.write(bytes))
  })
  const near = new URL(url)
  near.port = String(await listenUntilEnd(t, server))
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
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
    takeRoundTrips() {
      const taken = roundTrips
      roundTrips = 0
      return taken
    },
  }
}

/** Messages that end a group: the server answers what came before, and the client waits for it. */
const QUERY = 0x51
const SYNC = 0x53

/**
 * Reads the client's messages (PostgreSQL, Message Formats): a type of one byte, then the length. The first message of a
 * connection has no type.
 */
function countRoundTrips(onRoundTrip: () => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0)
  let hasStarted = false
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    for (;;) {
      const before = hasStarted ? 1 : 0
      if (rest.length < before + 4) return
      const end = before + rest.readInt32BE(before)
      if (rest.length < end) return
      if (hasStarted && (rest[0] === QUERY || rest[0] === SYNC)) onRoundTrip()
      hasStarted = true
      rest = rest.subarray(end)
    }
  }
}
