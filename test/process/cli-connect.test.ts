/**
 * `latchkey connect` as people run it, through a real gateway with a real controller: a port of this machine, standard
 * input and output, real clients, and every end. D-423, D-424.
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import {
  connectLocally,
  echoLocally,
  listening,
  startConnect,
  tcpUpstream,
  travellingCli,
} from '../support/edge/connect-command.ts'
import { startRealEdge } from '../support/edge/real-edge.ts'
import { enrollRouter, makeRouter } from '../support/edge/router-identity.ts'
import { startSshService } from '../support/edge/ssh/ssh-service.ts'
import { startTcpService, type TcpService } from '../support/edge/tcp-service.ts'
import { eventually } from '../support/eventually.ts'
import { httpClient } from '../support/http-client.ts'
import type { Cli } from '../support/process/cli.ts'
import { programFor } from '../support/programs/shipped-program.ts'
import { type Service, startService } from '../support/service.ts'
import { startPostgres } from '../support/stores/postgres.ts'

const isInstalled = (program: string) => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`])
    return true
  } catch {
    return false
  }
}
const run = promisify(execFile)

/** A service, a gateway `gw1` with TCP services behind it, and a user who is logged in. */
async function startAll(
  t: TestContext,
  more: Readonly<Record<string, number>> = {},
  make: (service: Service) => ReturnType<typeof enrollRouter> = enrollRouter,
) {
  const service = await startService(t)
  const echo: TcpService = await startTcpService(t)
  const upstreams = () => [
    tcpUpstream('echo', echo.port),
    tcpUpstream('down', 1),
    ...Object.entries(more).map(([name, port]) => tcpUpstream(name, port)),
  ]
  const edge = await startRealEdge(t, service, { upstreams, made: await make(service) })
  const cli = await travellingCli(t, service, edge.gatewayCa)
  const { host: at, port } = new URL(edge.url)
  const connect = (name: string, ...args: readonly string[]) =>
    startConnect(t, cli, [`gw1:${port}/${name}`, ...args])
  return { service, edge, echo, cli, at, connect, upstreams }
}

const certificatesOf = async (cli: Cli, url: string, ca: string) => {
  const token = (await cli.succeed(['token'])).trim()
  const reply = await httpClient(ca).call(
    `${url}/edge/client/v1/current-api-session/certificates`,
    {
      headers: { authorization: `Bearer ${token}` },
    },
  )
  return reply.json().data.length as number
}

test('connections over a local port reach the service, until the session ends', async (t) => {
  const { connect, cli, echo } = await startAll(t)
  const connecting = connect('echo', '--listen', '127.0.0.1:0')
  const port = await listening(connecting)
  const [first, second] = [connectLocally(t, port), connectLocally(t, port)]
  await Promise.all([echoLocally(first, 'one'), echoLocally(second, 'two')])

  first.socket.end('last')
  assert.equal(await first.over, 'end')
  assert.ok(first.received().endsWith('last'), 'a half-close loses nothing')
  await cli.succeed(['logout'])
  assert.equal(await second.over, 'ECONNRESET')
  const { code, stdout, stderr } = await connecting.finished
  assert.equal(code, 77)
  assert.match(stdout, /^Listening on 127\.0\.0\.1:\d+ → gw1:\d+\/echo\. Ctrl-C ends it\.\n$/)
  assert.equal(
    stderr,
    `latchkey: the session has ended, so 127.0.0.1:${port} is closed; run: latchkey login, then the same command again\n`,
  )
  assert.equal(echo.sockets.size, 0)
})

test('Ctrl-C ends it with 0 and resets what is open; its certificate is removed', async (t) => {
  const { connect, cli, service, echo } = await startAll(t)
  const connecting = connect('echo', '--listen', '127.0.0.1:0')
  const local = connectLocally(t, await listening(connecting))
  await echoLocally(local, 'hello')
  assert.equal(await certificatesOf(cli, service.baseUrl, service.ca), 1)
  connecting.process.kill('SIGINT')
  assert.equal((await connecting.finished).code, 0)
  assert.equal(await local.over, 'ECONNRESET')
  await eventually(() => echo.ends[0], 'the end at the service')
  assert.equal(await certificatesOf(cli, service.baseUrl, service.ca), 0)
})

test('standard input and output carry one connection, byte for byte', async (t) => {
  const { connect } = await startAll(t)
  const connecting = connect('echo', '--stdio')
  connecting.process.stdin.write('hello ')
  await eventually(() => (connecting.output.stdout === 'hello ' ? true : undefined), 'the echo')
  connecting.process.stdin.end('and goodbye')
  const { code, stdout, stderr } = await connecting.finished
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: 'hello and goodbye', stderr: '' })
})

test('a connection over standard output ends with the session, and with its exit code', async (t) => {
  const { connect, cli } = await startAll(t)
  const connecting = connect('echo', '--stdio')
  connecting.process.stdin.write('hello')
  await eventually(() => (connecting.output.stdout === 'hello' ? true : undefined), 'the echo')
  await cli.succeed(['logout'])
  const { code, stderr } = await connecting.finished
  assert.equal(code, 77, stderr)
  assert.match(stderr, /run: latchkey login/)
})

test('a restart of the gateway ends what is open, and connections made meanwhile wait for it', async (t) => {
  const { connect, edge, service, upstreams } = await startAll(t)
  const connecting = connect('echo', '--listen', '127.0.0.1:0')
  const port = await listening(connecting)
  const lost = connectLocally(t, port)
  await echoLocally(lost, 'before')
  await edge.stopGateway()
  assert.equal(await lost.over, 'ECONNRESET')

  const waiting = connectLocally(t, port)
  await once(waiting.socket, 'connect')
  const made = { ...edge }
  await startRealEdge(t, service, { made, port: Number(new URL(edge.url).port), upstreams })
  await echoLocally(waiting, 'after')
  assert.equal(connecting.process.exitCode, null)
})

test('every way to get it wrong has its sentence and its exit code', async (t) => {
  const { cli, at, edge } = await startAll(t, {}, (service) => makeRouter(t, service))
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.after(() => void taken.close())
  const port = (taken.address() as AddressInfo).port
  const trusted = ['--ca', 'gateway-ca.pem']
  const free = ['--listen', '127.0.0.1:0']
  const cases: readonly (readonly [args: readonly string[], code: number, says: RegExp])[] = [
    [[`${at}/echo`], 64, /needs --listen HOST:PORT or --stdio/],
    [[`${at}/echo`, '--stdio', ...free], 64, /cannot be combined/],
    [['echo', '--stdio'], 64, /GATEWAY\/SERVICE, for example/],
    [[`${at}/a b`, '--stdio'], 64, /GATEWAY\/SERVICE/],
    [[`${at}/echo`, '--listen', '5432'], 64, /--listen must be HOST:PORT.*got "5432"/],
    [
      [`${at}/nothing`, ...trusted, ...free],
      66,
      /\/nothing: the gateway has no TCP service of this name/,
    ],
    [[`${at}/down`, ...trusted, '--stdio'], 69, /the gateway cannot reach the service/],
    [
      [`${at}/echo`, ...trusted, '--listen', `127.0.0.1:${port}`],
      73,
      /is in use by another program/,
    ],
    // The CA of the routers is not one of the network, and nobody has named it.
    [[`${at}/echo`, ...free], 76, /is not a gateway of this network.*--ca/s],
    [
      [`localhost:1/echo`, ...trusted, ...free],
      69,
      /no connection to localhost:1: connection refused; is the service running\?/,
    ],
    [[`${at}/echo`, ...trusted, ...free, '--context', 'other'], 66, /there is no context "other"/],
  ]
  for (const [args, code, says] of cases) {
    const finished = await cli.run(['connect', ...args])
    assert.equal(finished.code, code, `${args.join(' ')}: ${finished.stderr}`)
    assert.match(finished.stderr, says)
    assert.equal(finished.stdout, '')
  }
  // Nothing of the token reached a gateway that is not trusted.
  assert.equal(edge.log.filter(({ reason }) => reason !== undefined).length, 0)
  await cli.succeed(['logout'])
  const after = await cli.run(['connect', `${at}/echo`, ...trusted, ...free])
  assert.equal(after.code, 77)
  assert.match(after.stderr, /run: latchkey login/)
})

describe('real clients', () => {
  test('psql', { skip: !isInstalled('psql') }, async (t) => {
    const postgres = await startPostgres()
    t.after(() => postgres.stop())
    const { port, username, password, pathname } = new URL(await postgres.freshDatabase())
    const { connect, cli } = await startAll(t, { postgres: Number(port) })
    const connecting = connect('postgres', '--listen', '127.0.0.1:0')
    const local = await listening(connecting)
    const at = `postgres://${username}:${password}@127.0.0.1:${local}${pathname}`
    const { stdout } = await run('psql', [at, '-Atc', "select repeat('x', 1000000)"], {
      maxBuffer: 4_000_000,
    })
    assert.equal(stdout.trimEnd().length, 1_000_000)
    const sleeping = run('psql', [at, '-Atc', 'select pg_sleep(600)'])
    const failed = assert.rejects(sleeping, /connection|server closed/i)
    await eventually(async () => {
      const { stdout: count } = await run('psql', [
        at,
        '-Atc',
        "select count(*) from pg_stat_activity where query like '%pg_sleep(600)%' and state = 'active'",
      ])
      // This query names it too.
      return Number(count) >= 2 ? true : undefined
    }, 'the query')
    await cli.succeed(['logout'])
    await failed
    assert.equal((await connecting.finished).code, 77)
  })

  test('ssh, with a ProxyCommand', { skip: !isInstalled('ssh') }, async (t) => {
    const ssh = await startSshService(t, 'ada')
    const { cli, at } = await startAll(t, { ssh: ssh.port })
    await writeFile(join(cli.home, 'known_hosts'), `build ${ssh.hostKey}\n`)
    await writeFile(join(cli.home, 'key'), ssh.userKey, { mode: 0o600 })
    const program = programFor(t, ['connect'])
    const options = [
      `ProxyCommand=${process.execPath} ${program} connect ${at}/ssh --stdio`,
      'BatchMode=yes',
      'IdentitiesOnly=yes',
      `IdentityFile=${join(cli.home, 'key')}`,
      `UserKnownHostsFile=${join(cli.home, 'known_hosts')}`,
      'StrictHostKeyChecking=yes',
    ].flatMap((option) => ['-o', option])
    const session = (command: string) => {
      const child = spawn('ssh', ['-F', 'none', ...options, 'ada@build', command], {
        cwd: cli.home,
        env: { ...cli.environment, PATH: process.env['PATH'] },
      })
      t.after(() => void child.kill('SIGKILL'))
      let [out, err] = ['', '']
      child.stdout.on('data', (chunk) => {
        out += chunk
      })
      child.stderr.on('data', (chunk) => {
        err += chunk
      })
      // `close` comes when the ProxyCommand has ended too: it shares the standard error.
      const finished = once(child, 'close').then(([code]) => ({ code, out }))
      return { child, finished, out: () => out, err: () => err }
    }
    const said = await session('echo hello from build').finished
    assert.deepEqual(said, { code: 0, out: 'hello from build\n' })

    // What a copy of a file is: a lot of bytes there and back, and their end.
    const copy = session('cat')
    const bytes = 'x'.repeat(1_000_000)
    copy.child.stdin.end(bytes)
    const copied = await copy.finished
    assert.equal(copied.code, 0, copy.err())
    assert.ok(copied.out === bytes, `${copied.out.length} bytes came back`)

    const open = session('cat')
    open.child.stdin.write('still open')
    await eventually(() => (open.out() === 'still open' ? true : undefined), 'the session')
    await cli.succeed(['logout'])
    const cut = await open.finished
    assert.equal(cut.code, 255)
    await eventually(
      () => (open.err().includes('run: latchkey login') ? true : undefined),
      'the reason',
    )
    assert.deepEqual(ssh.commands, ['echo hello from build', 'cat', 'cat'])
  })
})
