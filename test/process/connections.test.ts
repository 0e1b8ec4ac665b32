/**
 * Anonymous callers who only hold connections: they cannot use up descriptors or memory, or keep the process from
 * stopping. D-195, D-196, D-198, D-201.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import {
  countSockets,
  isLinux,
  residentMemory,
  withDescriptors,
} from '../support/monitoring/descriptors.ts'
import {
  HALF_CLIENT_HELLO,
  hold,
  holdMany,
  holdSecured,
  IMPATIENT,
  PATIENT,
  returnsTo,
  startWithTimeouts,
} from '../support/process/held-connections.ts'
import { startPostgres } from '../support/stores/postgres.ts'

const LIMIT = 400

after(async () => (await startPostgres()).stop())

for (const database of ['SQLite', 'PostgreSQL'] as const) {
  test(`connections that are not used as they should be: ${database}`, {
    skip: !isLinux,
  }, async (t) => {
    const service = await startWithTimeouts(t, IMPATIENT, {
      database,
      ...withDescriptors(LIMIT),
    })

    // Attack: connections that send nothing, or half of something, until the process has no descriptor left.
    await t.test(
      `closes all silent and half-open connections, and keeps serving: ${database}`,
      async (t) => {
        await service.call('/version', { headers: { connection: 'close' } })
        const before = await countSockets(service)
        const { port } = service
        // After the handshake: nothing (408), half a header (408), no HTTP (400), too large a header (431).
        for (const text of [
          '',
          'GET / HT',
          'nonsense\r\n\r\n',
          `GET / HTTP/1.1\r\na: ${'x'.repeat(40_000)}`,
        ]) {
          for (let i = 0; i < 10; i++) await holdSecured(t, port, text)
        }
        for (let i = 0; i < 100; i++) await hold(t, port)
        for (let i = 0; i < 100; i++) await hold(t, port, { bytes: HALF_CLIENT_HELLO })
        await returnsTo(service, before)
        assert.equal((await service.call('/version')).status, 200)
      },
    )

    // Attack: pipelined requests for a large document whose responses are never read.
    await t.test(
      `clients that read nothing use up neither memory nor connections: ${database}`,
      async (t) => {
        const path = '/edge/management/v1/openapi.json'
        const { text } = await service.call(path)
        await service.call('/version', { headers: { connection: 'close' } })
        const sockets = await countSockets(service)
        const memory = await residentMemory(service)
        const [connections, requests] = [30, 200]
        assert.ok(text.length * connections * requests > 1e9, 'enough to notice')
        const one = `GET ${path} HTTP/1.1\r\nHost: ${new URL(service.baseUrl).host}\r\n\r\n`
        let most = memory
        for (let i = 0; i < connections; i++) {
          const socket = await holdSecured(t, service.port, one.repeat(requests))
          socket.pause()
          most = Math.max(most, await residentMemory(service))
        }
        await eventually(async () => {
          most = Math.max(most, await residentMemory(service))
          return (await countSockets(service)) <= sockets ? true : undefined
        }, 'the end of every connection')
        assert.ok(most - memory < 150e6, `${Math.round((most - memory) / 1e6)} MB more`)
      },
    )

    assert.equal((await service.stop()).code, 0)
  })

  // Attack: the second connection from a port must not be forgotten when the first one from it ends.
  test(`SIGTERM stops a service with a thousand silent connections: ${database}`, async (t) => {
    const service = await startWithTimeouts(t, PATIENT, { database })
    const { port } = service
    const again = await holdMany(t, port, 100)
    const ports = again.map(({ localPort }) => localPort)
    for (const socket of again) socket.resetAndDestroy()
    // Another program may have taken some of them by now.
    const back = await Promise.allSettled(ports.map((localPort) => hold(t, port, { localPort })))
    assert.ok(back.some(({ status }) => status === 'fulfilled'))
    for (let i = 0; i < 9; i++) await holdMany(t, port, 100)
    let code: number | null | undefined
    void service.stop().then((finished) => {
      code = finished.code
    })
    assert.equal(await eventually(() => code, 'the end of the service'), 0)
  })
}
