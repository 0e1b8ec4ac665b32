/**
 * The HAProxy configuration of docs/postgresql.md, run unchanged except for names and ports: instances see the
 * addresses of clients, and the health check of the balancer is answered. D-208.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import https from 'node:https'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/ports.ts'
import { startService, temporaryFolder } from '../../support/service.ts'

const isInstalled = spawnSync('haproxy', ['-v']).status === 0
const skip = isInstalled ? false : 'haproxy is not installed'

test('the HAProxy example passes the addresses of clients on', { skip }, async (t) => {
  const port = await freePort()
  const own = await freePort()
  const service = await startService(t, {
    config: {
      web: [
        {
          name: 'balanced',
          bindPoints: [{ interface: `127.0.0.1:${own}`, address: `localhost:${port}` }],
          proxyProtocol: { trustedSources: ['127.0.0.1'] },
          apis: [{ binding: 'edge-client' }, { binding: 'health-checks' }],
        },
      ],
    },
  })

  const folder = await temporaryFolder(t)
  const caFile = join(folder, 'ca.pem')
  await writeFile(caFile, service.ca)
  const page = await readFile(new URL('../../../docs/postgresql.md', import.meta.url), 'utf8')
  const example = /```haproxy\n(.*?)```/s.exec(page)?.[1]
  assert.ok(example !== undefined)
  assert.match(example, /send-proxy-v2/)
  const rewritten = example
    .replace('bind :1280', `bind 127.0.0.1:${port}`)
    .replaceAll('auth.example.com:1280', `localhost:${port}`)
    .replaceAll('auth.example.com', 'localhost')
    .replace('/etc/haproxy/latchkey-ca.pem', caFile)
    .replace(/server id-1 \S+/, `server id-1 127.0.0.1:${own}`)
    .replace(/ *server id-2 .*\n/, '')
  const file = join(folder, 'haproxy.cfg')
  await writeFile(
    file,
    `defaults\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\n${rewritten}`,
  )
  startHaproxy(t, file)

  // The balancer itself, through its health check; connections that it opens for itself have its own address.
  await eventually(
    () => service.log.find(({ route, status }) => route === '/health-checks' && status === 200),
    'the health check of the balancer',
  )
  // A client at another address than the balancer: all of 127.0.0.0/8 is this machine.
  const agent = new https.Agent({ localAddress: '127.0.0.2' })
  const reply = await eventually(
    () =>
      service.client
        .call(`https://localhost:${port}/edge/client/v1/authenticate?method=cert`, {
          json: {},
          agent,
        })
        .catch(() => undefined),
    'an answer through the balancer',
  )
  assert.equal(reply.status, 401)
  assert.equal(reply.json().error.code, 'INVALID_AUTH')
  const line = await eventually(
    () => service.log.find(({ requestId }) => requestId === reply.headers['x-request-id']),
    'the line of the request',
  )
  assert.equal(line.address, '127.0.0.2')

  // A client cannot bypass the balancer.
  const past = `https://localhost:${own}/version`
  await assert.rejects(service.client.call(past, { headers: { host: `localhost:${port}` } }))
})

function startHaproxy(t: TestContext, file: string): void {
  const check = spawnSync('haproxy', ['-c', '-f', file], { encoding: 'utf8' })
  assert.equal(check.status, 0, check.stderr)
  const child: ChildProcess = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
  t.after(async () => {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  })
}
