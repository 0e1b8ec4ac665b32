/**
 * `latchkey demo` as a newcomer meets it: every line that it prints is pasted into a shell on a terminal, and does what
 * is said beside it. D-169 to D-172.
 */
import assert from 'node:assert/strict'
import { readdir, readFile, stat } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { TOTP } from 'otpauth'
import { connectRaw } from '../support/edge/raw-connection.ts'
import { httpClient } from '../support/http-client.ts'
import { freePort, isRefused } from '../support/ports.ts'
import { waitFor } from '../support/process/child-service.ts'
import { type DemoProcess, spawnDemo, startDemoProcess } from '../support/process/demo.ts'
import { FAST_PROGRAM } from '../support/process/program.ts'
import { temporaryFolder } from '../support/service.ts'
import { openShell, type Talk } from '../support/terminal/shell.ts'

/** How each line of the walk-through begins, and what a person sees then. In the order in which they are printed. */
function expectations(demo: DemoProcess): readonly Expectation[] {
  const { passwordOf } = demo
  const loggedIn = (name: string) => new RegExp(`^Logged in as ${name} at https://localhost:`)
  const by = (name: string, methods: string) =>
    new RegExp(`^name +${name}\\n[\\s\\S]*^by +${methods}$`, 'm')
  return [
    ['latchkey login --url', loggedIn('paula')],
    ['latchkey whoami', by('paula', 'pwd')],
    ['curl -sS --cacert ca.pem -w', /^\{"data":\{.*"name":"paula".*\}\n$/],
    ['latchkey login', /Logged in as paula/, (terminal) => useBrowser(terminal, demo)],
    ['cat tina.password tina.code | latchkey login', loggedIn('tina')],
    ['latchkey whoami', by('tina', 'pwd, otp, mfa')],
    [
      'latchkey login --username tom',
      /█▀▀▀▀▀█[\s\S]*Logged in as tom/,
      async ({ sees, types }) => {
        await sees('Password: ')
        types(passwordOf('tom'))
        const shown = await sees('First code of the app: ')
        const [, secret = ''] = /enter this secret: ([A-Z2-7]+)/.exec(shown) ?? []
        types(new TOTP({ secret }).generate())
        await sees('Logged in')
      },
    ],
    ['latchkey login --cert carl.pem --key carl.key', loggedIn('carl')],
    ['latchkey enroll nora.jwt', /^identity +\S+\n[\s\S]*^file +\S+\/nora\.json$/m],
    ['latchkey login --identity nora.json', loggedIn('nora')],
    ['curl -sS -X POST http', /^$/],
    ['latchkey login --ext-jwt emil.jwt', loggedIn('emil')],
    ['curl -sS -X POST http', /^$/],
    ['cat dora.password dora.jwt | latchkey login', loggedIn('dora')],
    ["curl -sS --cacert ca.pem -w '\\n'", /^\{"data":\{.*"name":"dora".*\}\n$/],
    [
      "curl -sS --cacert ca.pem -w ' %{http_code}",
      /^\{"error":\{"code":"UNAUTHORIZED",.*\} 401\n$/,
    ],
    ['TOKEN=$(curl', /^$/],
    ['curl -sS --cacert ca.pem -w', /^\{"data":\{.*"kind":"legacy".*\}\n$/],
    ['latchkey login --username paula', loggedIn('paula')],
    ['latchkey cert --out .', /^certificate +\S+\/session-cert\.pem$/m],
    [
      'curl -sS --cacert ca.pem --cert',
      /^\{\n {2}"method": "GET",\n {2}"path": "\/hello",[\s\S]*"x-latchkey-identity-id": "/,
    ],
    ['curl -sS --cacert ca.pem -w', /^\{"error":\{"code":"FORBIDDEN",.*\}\} 403\n$/],
    ['curl -sS --cacert ca.pem --cert', /^\{"error":\{"code":"UNAUTHORIZED",.*\}\} 401\n$/],
    ['echo hello | latchkey connect', /^Hello from a TCP service\.\nYou said: hello\n$/],
    ['curl -sS --cacert ca.pem -o /dev/null', /^30\d https:\/\/localhost:\d+\/oidc\//],
    ['TOKEN=$(latchkey token)', /^$/],
    ['latchkey logout', /^Logged out/],
    ['sleep 2; curl', /^\{"error":\{"code":"UNAUTHORIZED",.*\}\} 401\n$/],
    ['latchkey login --context admin', loggedIn('admin')],
    ['latchkey list identities', /\badmin\b[\s\S]*\bcarl\b[\s\S]*\bpaula\b/],
    ['REQUEST=$(curl', /^$/],
    ['latchkey explain "$REQUEST"', /^The password is wrong[\s\S]*"paula"/],
    ['latchkey events', /login\.succeeded[\s\S]*login\.failed/],
  ]
}

type Expectation = readonly [begins: string, seen: RegExp, talk?: (terminal: Talk) => Promise<void>]

/** What a person does in the window: the address that was printed, and paula's password there. */
async function useBrowser({ sees }: Talk, demo: DemoProcess): Promise<void> {
  const seen = await sees(/^ {2}https:\S+\/oidc\/authorization\?\S+\n/m)
  const [, url = ''] = /^ {2}(https:\S+)\n/m.exec(seen) ?? []
  const { call } = httpClient(demo.ca)
  const browser = { accept: 'text/html', 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }
  const begun = await call(url, { headers: browser })
  const cookie = String(begun.headers['set-cookie']).split(';')[0] ?? ''
  const page = new URL(begun.headers.location ?? '', demo.serviceUrl)
  const finished = await call(page.href, {
    headers: { ...browser, 'sec-fetch-site': 'same-origin', cookie },
    form: [
      ['username', 'paula'],
      ['password', demo.passwordOf('paula')],
    ],
  })
  assert.equal(finished.status, 302, finished.text)
  await (await fetch(finished.headers.location ?? '')).text()
  await sees('Logged in')
}

test('every line that the demo prints does what is said beside it', async (t) => {
  const temporary = await temporaryFolder(t)
  const demo = await startDemoProcess(t, { temporary })
  const home = await temporaryFolder(t)
  const shell = await openShell(t, home)
  const { folder, serviceUrl } = demo

  await t.test('it says first what it is, and writes no complaint', () => {
    const [first = '', second = '', third = ''] = demo.output.stdout.split('\n')
    assert.match(first, /Latchkey demo/)
    assert.match(`${second} ${third}`, /Only this machine.*new at each start.*deleted when it/)
    assert.equal(demo.output.stderr, '')
  })

  await t.test('its folder and files cannot be read by other users', async () => {
    assert.equal((await stat(folder)).mode & 0o777, 0o700)
    for (const name of ['admin.password', 'carl.key', 'nora.jwt', 'env', 'service.log']) {
      assert.equal((await stat(join(folder, name))).mode & 0o077, 0, name)
    }
    assert.equal(
      await readFile(join(folder, 'tom.password'), 'utf8'),
      `${demo.passwordOf('tom')}\n`,
    )
  })

  await t.test('the lines of the walk-through', async (t) => {
    assert.equal((await shell.run(demo.enter)).code, 0)
    const lines = demo.chapters.flatMap((chapter) => chapter.lines)
    const expected = expectations(demo)
    assert.equal(lines.length, expected.length)
    for (const [i, line] of lines.entries()) {
      const [begins = '', seen = /^$/, talk = async () => undefined] = expected[i] ?? []
      await t.test(line.split('\n')[0] ?? '', async () => {
        assert.ok(line.startsWith(begins), `${line} begins with ${begins}`)
        const { output, code } = await shell.talk(line, talk)
        assert.match(output, seen)
        assert.equal(code, 0, output)
      })
      // Once as the folder has it. Then a bundle, which starts in half the time (D-259).
      if (i === 0) await shell.run(`latchkey() { '${process.execPath}' '${FAST_PROGRAM}' "$@"; }`)
    }
  })

  await t.test('the upstream learns the identity of the caller, and no credential', async () => {
    const line = demo.chapters.flatMap(({ lines }) => lines).find((one) => one.includes('/hello'))
    await shell.run('latchkey login --context default --username paula < paula.password')
    await shell.run('latchkey cert --out .')
    const { output } = await shell.run(line ?? '')
    const { headers } = JSON.parse(output)
    const me = JSON.parse((await shell.run('latchkey whoami --json')).output)
    assert.equal(headers['x-latchkey-identity-id'], me.identity.id)
    assert.equal(headers['x-latchkey-session-id'], me.session.id)
    assert.equal(headers.authorization, undefined)
  })

  await t.test('the pages that it names are there', async () => {
    const { call } = httpClient(demo.ca)
    const [, named = ''] = /^And then$([\s\S]*)^To begin/m.exec(demo.output.stdout) ?? []
    const urls = named.match(/https:\S+/g) ?? []
    assert.deepEqual(
      urls.map((url) => new URL(url).pathname),
      ['/hello', '/account', '/console', '/edge/client/v1/docs', '/edge/management/v1/docs'],
    )
    for (const url of urls) {
      const reply = await call(url, { headers: { accept: 'text/html' } })
      assert.ok([200, 302, 303].includes(reply.status), `${url}: ${reply.status}`)
    }
    for (const log of named.match(/\S+\.log/g) ?? []) {
      assert.match(await readFile(join(folder, log), 'utf8'), / info {2}(?:GET|POST) \//)
    }
  })

  await t.test('WALKTHROUGH has every line, and whatever else is in it is a comment', async () => {
    const { output, code } = await shell.run(demo.begin)
    assert.equal(code, 0)
    let rest = await readFile(join(folder, 'WALKTHROUGH'), 'utf8')
    assert.ok(output.includes(rest))
    for (const line of [demo.enter, ...demo.chapters.flatMap(({ lines }) => lines)]) {
      assert.ok(rest.includes(`\n${line}\n`), line)
      rest = rest.replace(`\n${line}\n`, () => '\n')
    }
    assert.deepEqual(
      rest.split('\n').filter((line) => line !== '' && !line.startsWith('# ')),
      [],
    )
  })

  await t.test('does not touch the contexts of the user who tries it', async () => {
    assert.deepEqual(await readdir(home), [])
  })

  await t.test('cannot be reached from another machine', async () => {
    const elsewhere = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ internal, scopeid }) => !internal && !scopeid)
      .map(({ address }) => address)
    // Loopback too, but none that anything was bound to: a listener on every address would answer there.
    const others = process.platform === 'linux' ? ['127.0.0.2', ...elsewhere] : elsewhere
    for (const url of [serviceUrl, demo.gatewayUrl, demo.echoUrl, demo.idpUrl]) {
      const port = Number(new URL(url).port)
      assert.ok(!(await isRefused(port, '127.0.0.1')), url)
      for (const host of others) assert.ok(await isRefused(port, host), `${host} ${url}`)
    }
  })

  await t.test('Ctrl-C ends it, and nothing is left', async () => {
    const { code, stderr } = await demo.end('SIGINT')
    assert.equal(code, 0)
    assert.equal(stderr, 'The demo has ended; its folder is removed.\n')
    assert.deepEqual(await readdir(temporary), [])
    assert.ok(await isRefused(Number(new URL(serviceUrl).port), '127.0.0.1'))
  })
})

test('several at once, ports that are taken, and other ends', async (t) => {
  const temporary = await temporaryFolder(t)
  const port = await freePort()
  const [first, second] = await Promise.all([
    startDemoProcess(t, { temporary, args: ['--port', String(port)] }),
    startDemoProcess(t, { temporary }),
  ])

  await t.test('two run beside each other, with other passwords', () => {
    assert.equal(first.serviceUrl, `https://localhost:${port}`)
    const of = (demo: DemoProcess) => [
      demo.serviceUrl,
      demo.gatewayUrl,
      demo.idpUrl,
      demo.folder,
      ...['admin', 'paula', 'tina', 'tom', 'dora'].map(demo.passwordOf),
    ]
    const all = [...of(first), ...of(second)]
    assert.equal(new Set(all).size, all.length)
  })

  await t.test('a port that is taken is refused, and leaves nothing', async () => {
    const before = await readdir(temporary)
    const { code, stderr } = await spawnDemo(t, { temporary, args: ['--port', String(port)] })
      .finished
    assert.equal(code, 1)
    assert.equal(
      stderr,
      `latchkey: listener default: 127.0.0.1:${port} is already in use; is the service already running?\n`,
    )
    assert.deepEqual(await readdir(temporary), before)
  })

  await t.test('SIGTERM while it starts ends it, and leaves nothing', async () => {
    const before = await readdir(temporary)
    const child = spawnDemo(t, { temporary })
    await waitFor(
      async () => (await readdir(temporary)).length > before.length,
      () => 'its folder',
      child,
    )
    child.process.kill('SIGTERM')
    const { code, stdout } = await child.finished
    assert.equal(code, 0)
    assert.ok(!stdout.includes('The users'))
    assert.deepEqual(await readdir(temporary), before)
  })

  await t.test('a second signal ends it at once, and leaves nothing either', async (t) => {
    await holdOpen(t, first)
    first.process.kill('SIGTERM')
    await waitFor(
      () => isRefused(port, '127.0.0.1'),
      () => 'an end that has begun',
    )
    const { code } = await first.end('SIGTERM')
    assert.equal(code, 1)
    assert.deepEqual(await readdir(temporary), [second.folder.split('/').at(-1)])
  })

  await t.test('SIGTERM ends it like Ctrl-C', async () => {
    assert.equal((await second.end('SIGTERM')).code, 0)
    assert.deepEqual(await readdir(temporary), [])
  })
})

/** A request that never comes to its end, which an end of the service waits for. */
async function holdOpen(t: TestContext, { serviceUrl, ca }: DemoProcess): Promise<void> {
  const { host } = new URL(serviceUrl)
  const { socket, send } = await connectRaw({ baseUrl: serviceUrl, ca })
  t.after(() => socket.destroy())
  send(`POST /oidc/token HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 10\r\n\r\n12345`)
}
