/** The command line towards a server that means ill: what it sends is shown harmlessly or not at all, and nothing is followed. */
import assert from 'node:assert/strict'
import { lstat, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { inviteNew } from '../support/certificates/enrollment.ts'
import { type ForwardedAnswer, startBehindProxy } from '../support/client/meddling-proxy.ts'
import { administrate } from '../support/management.ts'
import { commandLineOf } from '../support/process/cli-login.ts'

const ESCAPES =
  '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\u2066\u200f\u061c\u2028\u3164\u{e0041}'
/** Everything that controls a terminal, changes the reading direction or is invisible, except line ends. */
const STEERS = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\u3164]/u

test('a server that means ill', async (t) => {
  const { service, proxy } = await startBehindProxy(t)
  const cli = await commandLineOf(t, { ...service, baseUrl: proxy.url, ca: proxy.ca })

  /** The next calls of the APIs are answered so. */
  function answerWith(status: number, body: unknown, headers: ForwardedAnswer['headers'] = {}) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const instead = {
      status,
      headers: { 'content-type': 'application/json', ...headers },
      body: text,
    }
    proxy.meddle(({ target }) => (target.startsWith('/edge/') ? { instead } : undefined))
  }

  await t.test('steers no terminal by names, by keys or by what it complains about', async () => {
    const row = { id: ESCAPES, name: ESCAPES, type: ESCAPES, tags: { [ESCAPES]: ESCAPES } }
    const meta = { pagination: { offset: 0, totalCount: `${ESCAPES}9` } }
    answerWith(200, { data: [row], meta })
    for (const args of [
      ['list', 'identities'],
      ['get', 'identity', ESCAPES],
    ]) {
      const { code, stdout, stderr } = await cli.run(...args)
      assert.equal(code, 0, stderr)
      assert.doesNotMatch(stdout + stderr, STEERS)
      assert.match(stdout, /owned/)
    }
    // For programs: the same value, in a text that is just as harmless.
    for (const [args, expected] of [
      [['list', 'identities'], [row]],
      [['get', 'identity', ESCAPES], row],
      [['events'], [row]],
    ] as const) {
      const { code, stdout, stderr } = await cli.run(...args, '--json')
      assert.equal(code, 0, stderr)
      assert.doesNotMatch(stdout + stderr, STEERS, args.join(' '))
      assert.deepEqual(JSON.parse(stdout), expected)
    }
    for (const args of [['events'], ['explain', 'some-request'], ['keys', 'list']]) {
      const { code, stdout, stderr } = await cli.run(...args)
      assert.equal(code, 0, stderr)
      assert.doesNotMatch(stdout + stderr, STEERS, args.join(' '))
    }
    const cause = { field: ESCAPES, reason: ESCAPES }
    const error = { code: ESCAPES, message: ESCAPES, requestId: ESCAPES, cause }
    answerWith(400, { error })
    for (const args of [['list', 'identities'], ['whoami'], ['mfa', 'status']]) {
      const { code, stdout, stderr } = await cli.run(...args)
      assert.notEqual(code, 0)
      assert.doesNotMatch(stdout + stderr, STEERS, args.join(' '))
    }
  })

  await t.test(
    'does not follow a redirect to another address, and sends no token there',
    async () => {
      const before = proxy.seen.length
      answerWith(307, '', { location: `${proxy.url}/elsewhere` })
      const { code, stderr } = await cli.run('list', 'identities')
      assert.equal(code, 76, stderr)
      assert.ok(!proxy.seen.slice(before).some((line) => line.includes('elsewhere')))
    },
  )

  await t.test(
    'is not read to the end when it does not stop, nor when it nests too deeply',
    async () => {
      answerWith(200, `{"data": ["${'x'.repeat(17 * 1024 * 1024)}"]}`)
      const huge = await cli.run('list', 'identities')
      assert.equal(huge.code, 76, huge.stderr)
      assert.match(huge.stderr, /^latchkey: the answer is larger than \d+ bytes\n$/)
      answerWith(200, `{"data": [${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}]}`)
      const deep = await cli.run('list', 'identities')
      assert.equal(deep.code, 76, deep.stderr)
      assert.equal(deep.stderr, 'latchkey: the response does not come from Latchkey\n')
    },
  )

  await t.test('does not keep --all going with the same page forever', async () => {
    const data = [{ id: 'one', name: 'one' }]
    answerWith(200, { data, meta: { pagination: { offset: 0, totalCount: 1e12 } } })
    const { code, stdout } = await cli.run('list', 'identities', '--all', '--json')
    assert.equal(code, 0)
    assert.deepEqual(JSON.parse(stdout), data)
  })

  await t.test('gets no token of an enrollment that it did not make', async () => {
    // Attack: somebody answers in the place of the server, with a certificate of his own.
    proxy.meddle(undefined)
    const { jwt } = await inviteNew(await administrate(service), { updb: 'ada' })
    const before = proxy.seen.length
    const wrong = await cli.runWith(`${jwt}\nada\na long password\n`, 'enroll', '-')
    assert.equal(wrong.code, 76)
    assert.match(wrong.stderr, /^latchkey: the server is not the one that made this enrollment; /)
    assert.equal(proxy.seen.length, before)

    const [head, body = '', signature] = jwt.split('.')
    const claims = { ...JSON.parse(String(Buffer.from(body, 'base64url'))), exp: 1 }
    const past = Buffer.from(JSON.stringify(claims)).toString('base64url')
    const late = await cli.runWith([head, past, signature].join('.'), 'enroll', '-')
    assert.equal(late.code, 65)
    assert.equal(late.stderr, 'latchkey: the enrollment has expired; ask for a new one\n')
  })

  await t.test('a link in place of the file is not followed', async () => {
    // Attack: a link in a folder that others can write to, at the name that a file with a key will get.
    proxy.meddle(undefined)
    const folder = join(cli.folder, 'open')
    await mkdir(folder)
    const victim = join(cli.folder, 'victim')
    await writeFile(victim, 'precious')
    await symlink(victim, join(folder, 'session-key.pem'))
    const written = await cli.run('cert', '--out', folder)
    assert.equal(written.code, 0, written.stderr)
    assert.equal(await readFile(victim, 'utf8'), 'precious')
    const key = await lstat(join(folder, 'session-key.pem'))
    assert.deepEqual([key.isFile(), key.mode & 0o777], [true, 0o600])
  })
})
