/**
 * `latchkey gateway` as people run it, beside `latchkey run`: start, ready line, traffic, logout, signals, and what it
 * refuses to start with. D-42.
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { oidcSession } from '../support/edge/live-session.ts'
import { openTunnel, pass, startRealEdge, travellerOf } from '../support/edge/real-edge.ts'
import { makeRouter, writeIdentity } from '../support/edge/router-identity.ts'
import { startUpstream } from '../support/edge/upstream.ts'
import { administrate } from '../support/management.ts'
import { freePort } from '../support/ports.ts'
import { type Child, spawnLatchkey, startChild, waitFor } from '../support/process/child-service.ts'
import { runRefused } from '../support/process/run-command.ts'
import { startService, temporaryFolder } from '../support/service.ts'

async function startGatewayProcess(
  t: TestContext,
  options: { readonly controller: string; readonly file: string; readonly upstream: string },
): Promise<Child & { readonly url: string }> {
  const child = spawnLatchkey(t, [
    'gateway',
    ...['--controller', options.controller, '--identity', options.file],
    ...['--listen', 'localhost:0', '--upstream', options.upstream],
  ])
  await waitFor(
    () => child.output.stdout.includes('\n'),
    () => `the ready line\n${child.output.stdout}\n${child.output.stderr}`,
    child,
  )
  const url = /^The gateway is ready: (https:\/\/\S+) → (\S+)\n$/.exec(child.output.stdout)
  assert.equal(url?.[2], options.upstream)
  return { ...child, url: url?.[1] ?? '' }
}

test('a gateway beside a service: it lets a session through, and a logout closes its WebSocket', async (t) => {
  const service = await startService(t)
  const { identity, gatewayCa } = await makeRouter(t, service)
  const file = await writeIdentity(t, identity)
  const upstream = await startUpstream(t)
  const gateway = await startGatewayProcess(t, {
    controller: service.baseUrl,
    file,
    upstream: upstream.url,
  })
  const { url } = gateway
  const session = await oidcSession(service)
  const traveller = await travellerOf(session)

  const answer = await pass(t, { url, gatewayCa }, traveller)
  assert.equal(answer?.status, 200)
  assert.deepEqual(upstream.requests[0]?.values('x-latchkey-identity-id'), [session.identityId])
  assert.equal((await pass(t, { url, gatewayCa }, { headers: session.headers }))?.status, 403)
  assert.equal((await pass(t, { url, gatewayCa }, { ...traveller, headers: {} }))?.status, 401)

  const tunnel = await openTunnel(t, { url, gatewayCa }, traveller)
  assert.equal(tunnel.status, 101)
  tunnel.send('hello')
  const [echo] = await once(tunnel.socket, 'data')
  assert.equal(String(echo), 'hello')
  const logout = await session.call('/edge/client/v1/current-api-session', { method: 'DELETE' })
  assert.equal(logout.status, 200, logout.text)
  await tunnel.closed
  assert.equal((await pass(t, { url, gatewayCa }, traveller))?.status, 401)

  // Every line of the log is JSON, and none has a token.
  gateway.process.kill('SIGTERM')
  const { code, stderr } = await gateway.finished
  assert.equal(code, 0)
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.filter(({ msg }) => msg === 'request').map(({ status, reason }) => [status, reason]),
    [
      [200, undefined],
      [403, 'no-certificate'],
      [401, 'no-token'],
      [101, undefined],
      [401, 'session-ended'],
    ],
  )
  assert.equal(lines.at(-1).msg, 'stopped')
  assert.equal(stderr.includes(session.token), false)
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} lets a running request finish, closes a WebSocket, and ends with 0`, async (t) => {
    const service = await startService(t)
    const { identity, gatewayCa } = await makeRouter(t, service)
    const begun = Promise.withResolvers<() => void>()
    const upstream = await startUpstream(t, {
      answer: (_, response) => begun.resolve(() => response.end('done')),
    })
    const gateway = await startGatewayProcess(t, {
      controller: service.baseUrl,
      file: await writeIdentity(t, identity),
      upstream: upstream.url,
    })
    const { url } = gateway
    const traveller = await travellerOf(await oidcSession(service))
    const tunnel = await openTunnel(t, { url, gatewayCa }, traveller)
    assert.equal(tunnel.status, 101)
    const answer = pass(t, { url, gatewayCa }, traveller)
    const finish = await begun.promise
    gateway.process.kill(signal)
    await tunnel.closed
    assert.equal(gateway.process.exitCode, null, 'it waits for the request')
    finish()
    assert.equal((await answer)?.status, 200)
    assert.equal((await gateway.finished).code, 0)
  })
}

test('a gateway without its controller refuses every caller, is not ready, and can be stopped', async (t) => {
  const service = await startService(t)
  const { identity, gatewayCa } = await makeRouter(t, service)
  const traveller = await travellerOf(await oidcSession(service))
  const file = await writeIdentity(t, identity)
  await service.stop()
  const upstream = await startUpstream(t)
  const child = spawnLatchkey(t, [
    'gateway',
    ...['--controller', service.baseUrl, '--identity', file],
    ...['--listen', 'localhost:0', '--upstream', upstream.url],
  ])
  const listening = () =>
    child.output.stderr
      .split('\n')
      .filter((line) => line.includes('"msg":"listening"'))
      .map((line) => JSON.parse(line))[0]
  await waitFor(
    () => listening() !== undefined,
    () => child.output.stderr,
    child,
  )
  const url = `https://${listening().listen}`
  assert.equal((await pass(t, { url, gatewayCa }, traveller))?.status, 503)
  assert.equal(upstream.received(), '')
  child.process.kill('SIGTERM')
  const { code, stdout } = await child.finished
  assert.deepEqual({ code, stdout }, { code: 0, stdout: '' })
})

test('a gateway that cannot listen says where, closes what it has opened, and ends with 1', async (t) => {
  const service = await startService(t)
  const { identity } = await makeRouter(t, service)
  const identityFile = await writeIdentity(t, identity)
  const taken = `127.0.0.1:${new URL(service.baseUrl).port}`
  const free = '127.0.0.1:0'
  const cases = [
    { key: 'listen', listen: taken, verify: free, monitoring: free },
    { key: 'verify.listen', listen: free, verify: taken, monitoring: free },
    { key: 'monitoring.listen', listen: free, verify: free, monitoring: taken },
  ]
  for (const { key, listen, verify, monitoring } of cases) {
    const home = await temporaryFolder(t)
    const settings = {
      v: 1,
      controller: service.baseUrl,
      listen,
      upstreams: [{ url: 'http://localhost:1' }],
      verify: { listen: verify },
      monitoring: { listen: monitoring },
    }
    // JSON is YAML too.
    await writeFile(join(home, 'gateway.yml'), JSON.stringify(settings))
    const child = spawnLatchkey(t, ['gateway', '--home', home, '--identity', identityFile])
    await waitFor(
      () => child.process.exitCode !== null,
      () => `the end of a gateway whose ${key} is taken\n${child.output.stderr}`,
    )
    const { code, stdout, stderr } = await child.finished
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' }, key)
    assert.deepEqual(stderr.trimEnd().split('\n').slice(-2), [
      `latchkey: ${taken} is already in use; is the gateway already running?`,
      `To use another address, change ${key} in ${home}/gateway.yml.`,
    ])
  }

  const options = ['--controller', service.baseUrl, '--identity', identityFile]
  const { code, stderr } = await runRefused([
    ...['gateway', ...options, '--listen', taken, '--upstream', 'http://localhost:1'],
  ])
  assert.equal(code, 1)
  assert.equal(
    stderr,
    `latchkey: ${taken} is already in use; is the gateway already running?\n` +
      'To use another address, change --listen.\n',
  )
})

test('what the gateway cannot be started with is named, with exit code 64', async () => {
  const controller =
    '--controller must be https://HOST[:PORT], for example https://auth.example.com'
  const good = {
    '--controller': 'https://localhost:1280',
    '--identity': 'router.json',
    '--listen': 'localhost:0',
    '--upstream': 'http://localhost:8080',
  }
  const cases: readonly (readonly [changes: Record<string, string | undefined>, string])[] = [
    [{ '--controller': undefined }, '--controller is missing'],
    [
      { '--identity': undefined },
      '--identity is missing, and there is no gateway home; create one with --enroll',
    ],
    [{ '--listen': undefined }, '--listen is missing'],
    [{ '--upstream': undefined }, '--upstream is missing'],
    [{ '--upstream': '' }, '--upstream is empty'],
    [{ '--controller': 'http://localhost:1280' }, controller],
    [{ '--controller': 'https://a/edge' }, controller],
    [{ '--listen': '8443' }, '--listen must be HOST:PORT, for example 0.0.0.0:8443 (got "8443")'],
    [
      { '--upstream': 'https://localhost' },
      '--upstream must be [NAME=]http://HOST:PORT or [NAME=]tcp://HOST:PORT',
    ],
    [
      { '--upstream': 'http://localhost/path' },
      '--upstream must be [NAME=]http://HOST:PORT or [NAME=]tcp://HOST:PORT',
    ],
    [
      { '--upstream': 'a_b=http://localhost' },
      '--upstream must be [NAME=]http://HOST:PORT or [NAME=]tcp://HOST:PORT',
    ],
  ]
  for (const [changes, complaint] of cases) {
    const values = Object.entries({ ...good, ...changes })
    const args = values.flatMap(([name, value]) => (value === undefined ? [] : [name, value]))
    const { code, stdout, stderr } = await runRefused(['gateway', ...args])
    assert.equal(code, 64, complaint)
    assert.equal(stderr, `latchkey: ${complaint}\nSee "latchkey gateway --help".\n`)
    assert.equal(stdout, '')
  }
  const bare = await runRefused(['gateway'])
  assert.match(bare.stderr, /^latchkey: --controller is missing, .*; create one with --enroll\n/)
  const { code, stderr } = await runRefused(['run', '--upstream', 'http://localhost'])
  assert.equal(code, 64)
  assert.match(stderr, /^latchkey: "run" takes no --upstream\n/)
})

test('an identity file that cannot be used is named, with exit code 1', async (t) => {
  const service = await startService(t)
  const { identity } = await makeRouter(t, service)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const otherKey = privateKey.export({ format: 'pem', type: 'pkcs8' })
  const start = async (file: string) => {
    const { code, stdout, stderr } = await runRefused([
      'gateway',
      ...['--controller', service.baseUrl, '--identity', file],
      ...['--listen', 'localhost:0', '--upstream', 'http://localhost:1'],
    ])
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
    assert.equal(stderr.split('\n').length, 2, stderr)
    return stderr
  }
  assert.match(await start(`${await temporaryFolder(t)}/none.json`), /there is no identity file/)
  const cases: readonly (readonly [content: unknown, complaint: RegExp])[] = [
    ['no JSON', /is not JSON with the texts id, cert, key, ca/],
    [[], /is not JSON with the texts/],
    [{ ...identity, id: undefined }, /is not JSON with the texts/],
    [{ ...identity, key: 7 }, /is not JSON with the texts/],
    [{ ...identity, cert: 'x' }, /has a cert that is not a certificate in PEM/],
    [{ ...identity, key: 'x' }, /has a key that is not a private key in PEM/],
    [{ ...identity, ca: 'x' }, /has a ca that is not a certificate in PEM/],
    [{ ...identity, key: otherKey }, /has a key that does not belong to its cert/],
  ]
  for (const [content, complaint] of cases) {
    const complained = await start(await writeIdentity(t, content))
    assert.match(complained, complaint)
    assert.equal(complained.includes('PRIVATE KEY'), false)
  }
  // R063
  assert.match(
    await start(await writeIdentity(t, identity, 0o644)),
    /every user of this machine can access .*router\.json; run: chmod 600 /,
  )
})

// The controller is a process that is killed; the gateway is in this one.
test('a controller that is killed and comes back is followed on: connections stay open, and a role that is removed then closes them', async (t) => {
  const environment = { LATCHKEY_ADDRESS: `localhost:${await freePort()}` }
  const first = await startChild(t, { environment })
  const edge = await startRealEdge(t, first, {
    upstreams: (to) => [{ ...to, require: { roles: ['ops'] } }],
  })
  const password = 'a long password of zoe'
  const zoe = await edge.admin.createIdentity({ password, roleAttributes: ['ops'] })
  const traveller = await travellerOf(await oidcSession(first, zoe))
  const tunnel = await openTunnel(t, edge, traveller)
  assert.equal(tunnel.status, 101)
  first.process.kill('SIGKILL')
  await first.finished
  await waitFor(
    () => edge.log.some(({ msg }) => msg === 'the feed of the controller was interrupted'),
    () => 'the end of the feed',
  )
  assert.equal((await pass(t, edge, traveller))?.status, 200)

  const second = await startService(t, { home: first.home, environment })
  const admin = await administrate(second)
  assert.equal(tunnel.socket.destroyed, false)
  await admin.act('PATCH', `/identities/${zoe.id}`, { roleAttributes: [] })
  await tunnel.closed
  assert.equal((await pass(t, edge, traveller))?.json().error.code, 'ROLE_REQUIRED')
})
