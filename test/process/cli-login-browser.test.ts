/** `latchkey login` with a browser: in a window of this machine, or on another device. Issue 6 §1. */
import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { approveDevice } from '../support/login/device.ts'
import { waitFor } from '../support/process/child-service.ts'
import { cliFor, freshCli, loginTo, nameOf } from '../support/process/cli.ts'
import { ADMIN, startService } from '../support/service.ts'

test('login with a browser', async (t) => {
  const service = await startService(t)

  /** What a person does in the window. */
  async function logInAt(url: string): Promise<void> {
    const browser = { accept: 'text/html', 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }
    const begun = await service.client.call(url, { headers: browser })
    const cookie = String(begun.headers['set-cookie']).split(';')[0] ?? ''
    const page = new URL(begun.headers.location ?? '', service.baseUrl)
    const finished = await service.client.call(page.href, {
      headers: { ...browser, 'sec-fetch-site': 'same-origin', cookie },
      form: Object.entries(ADMIN),
    })
    assert.equal(finished.status, 302, finished.text)
    get(finished.headers.location ?? '').on('error', () => undefined)
  }

  await t.test(
    'is the default: a window is opened at the address, which is printed too',
    async (t) => {
      const cli = await cliFor(t, service)
      const bin = join(cli.home, 'bin')
      await mkdir(bin)
      const opened = join(cli.home, 'opened')
      const script = `#!/bin/sh\nprintf %s "$1" > '${opened}.new' && mv '${opened}.new' '${opened}'\n`
      await writeFile(join(bin, 'xdg-open'), script, { mode: 0o755 })
      const withWindows = await freshCli(t, {
        PATH: `${bin}${delimiter}${process.env['PATH']}`,
        DISPLAY: ':0',
      })
      const terminal = withWindows.open(
        ['login', '--url', service.baseUrl, '--ca', join(cli.home, 'ca.pem')],
        { columns: 2_000 },
      )
      let url = ''
      await waitFor(
        async () => {
          url = await readFile(opened, 'utf8').catch(() => '')
          return url !== ''
        },
        () => `the window: ${terminal.output()}`,
      )
      await terminal.sees(url)
      await logInAt(url)
      assert.equal(await terminal.ended(), 0, terminal.output())
      assert.equal(await nameOf(withWindows), 'admin')
    },
  )

  await t.test('opens none with --no-browser; Ctrl-C gives it up', async (t) => {
    const cli = await cliFor(t, service)
    const terminal = cli.open([...loginTo(service), '--no-browser'])
    await terminal.sees('/oidc/authorization?')
    terminal.presses('\u0003')
    assert.equal(await terminal.ended(), 130)
    assert.equal((await cli.run(['whoami'])).code, 77)
  })
})

test('login on a machine without a browser', async (t) => {
  const service = await startService(t)
  const codeIn = (output: string) => /\b([B-Z]{4}-[B-Z]{4})\b/.exec(output)?.[1] ?? ''

  await t.test('shows address, code and QR code, and ends when the user approves', async (t) => {
    const cli = await cliFor(t, service)
    const terminal = cli.open(loginTo(service), { columns: 120 })
    await terminal.sees('scan this QR code')
    assert.ok(terminal.output().includes(`${service.baseUrl}/device`))
    await approveDevice(service, { userCode: codeIn(terminal.output()) })
    assert.equal(await terminal.ended(), 0, terminal.output())
    assert.equal(await nameOf(cli), 'admin')
  })

  await t.test('Ctrl-C gives it up', async (t) => {
    const cli = await cliFor(t, service)
    const terminal = cli.open([...loginTo(service), '--device'])
    await terminal.sees('and enter this code, within 10 minutes:')
    terminal.presses('\u0003')
    assert.equal(await terminal.ended(), 130)
    assert.equal((await cli.run(['whoami'])).code, 77)
  })
})
