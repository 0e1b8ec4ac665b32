/** How a waiting command ends: by Ctrl-C, or because its output is no longer read. D-190. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { inviteNew } from '../support/certificates/enrollment.ts'
import { startBehindProxy } from '../support/client/meddling-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { administrate } from '../support/management.ts'
import { commandLineOf } from '../support/process/cli-login.ts'
import { childEnvironment, PROGRAM } from '../support/process/program.ts'

test('a command that waits for its server', async (t) => {
  const { service, proxy } = await startBehindProxy(t)
  const cli = await commandLineOf(t, { ...service, baseUrl: proxy.url, ca: proxy.ca })
  const admin = await administrate(service)

  /** Requests whose path begins with this get no response, until the next call. */
  const silence = (prefix: string) =>
    proxy.meddle(({ target }) => (target.startsWith(prefix) ? { silent: 'before' } : undefined))

  await t.test(
    'ends by Ctrl-C with exit code 130, while it connects and while it asks',
    async () => {
      for (const [prefix, says] of [
        ['/oidc/.well-known/', `Connecting to ${proxy.url}`],
        ['/edge/', 'Waiting for the server'],
      ] as const) {
        silence(prefix)
        const terminal = cli.open('list', 'identities')
        await terminal.sees(says)
        terminal.presses('\u0003')
        assert.equal(await terminal.ended(), 130, terminal.output())
        assert.match(terminal.output(), /latchkey: given up\s*$/)
      }
    },
  )

  await t.test('leaves no empty identity file when an enrollment is cancelled', async () => {
    proxy.meddle(undefined)
    const { jwt } = await inviteNew(admin, { ott: true })
    const token = join(cli.folder, 'given-up.jwt')
    await writeFile(token, jwt)
    await writeFile(join(cli.folder, 'proxy.pem'), proxy.ca)
    silence('/')
    const terminal = cli.open('enroll', token, '--out', 'device.json', '--ca', 'proxy.pem')
    await terminal.sees('Enrolling')
    terminal.presses('\u0003')
    assert.equal(await terminal.ended(), 130, terminal.output())
    assert.ok(!(await readdir(cli.folder)).includes('device.json'))
  })

  await t.test(
    'ends successfully by Ctrl-C when it follows events, even during a request',
    async () => {
      proxy.meddle(undefined)
      const terminal = cli.open('events', '--follow')
      await terminal.sees('login.succeeded')
      silence('/edge/')
      const before = proxy.seen.length
      await eventually(() => proxy.seen.length > before || undefined, 'a request without an answer')
      terminal.presses('\u0003')
      assert.equal(await terminal.ended(), 0, terminal.output())
      assert.doesNotMatch(terminal.output(), /given up|does not answer/)
    },
  )

  await t.test('ends with exit code 141 when the events are no longer read', async () => {
    proxy.meddle(undefined)
    const child = spawn(process.execPath, [PROGRAM, 'events', '--follow'], {
      env: childEnvironment({ HOME: cli.folder, XDG_CONFIG_HOME: join(cli.folder, 'config') }),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => void child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    child.stdout.destroy()
    const exit = once(child, 'exit')
    let made = 0
    const over = await eventually(async () => {
      if (child.exitCode !== null) return child.exitCode
      made += 1
      await admin.createIdentity({ name: `reader-${made}` })
      return undefined
    }, 'the end of the command')
    await exit
    assert.equal(over, 141)
  })
})
