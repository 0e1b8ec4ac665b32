/**
 * Child processes do not inherit secrets from the environment: neither those of the service, nor the browser that the
 * command line opens. D-243, R108.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { stringify } from 'yaml'
import { missingHome, readConfig } from '../support/process/child-home.ts'
import {
  type ChildService,
  spawnLatchkey,
  startChild,
  waitFor,
} from '../support/process/child-service.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { ADMIN, temporaryFolder } from '../support/service.ts'
import { startPostgres } from '../support/stores/postgres.ts'

/**
 * Runs inside the process: on SIGUSR2 it starts a child, as any code in it could, which writes its environment to a
 * file.
 */
const preload = (file: string) => [
  '--import',
  `data:text/javascript,${encodeURIComponent(`
    import { execFileSync } from 'node:child_process'
    import { renameSync, writeFileSync } from 'node:fs'
    process.on('SIGUSR2', () => {
      const script = 'process.stdout.write(JSON.stringify(process.env))'
      writeFileSync(${JSON.stringify(`${file}.new`)}, execFileSync(process.execPath, ['-e', script]))
      renameSync(${JSON.stringify(`${file}.new`)}, ${JSON.stringify(file)})
    })
  `)}`,
]

async function inherited(service: ChildService, file: string): Promise<Record<string, string>> {
  service.process.kill('SIGUSR2')
  let text = ''
  await waitFor(
    async () => {
      text = await readFile(file, 'utf8').catch(() => '')
      return text !== ''
    },
    () => `the environment of the child: ${service.output.stderr}`,
    service,
  )
  return JSON.parse(text)
}

async function start(t: TestContext, environment: Readonly<Record<string, string>>, home?: string) {
  const file = join(await temporaryFolder(t), 'environment.json')
  const options = { environment, nodeArguments: preload(file) }
  const service = await startChild(t, { ...options, home: home ?? (await missingHome(t)) })
  return inherited(service, file)
}

test('no child process of the service inherits the password of the first administrator', async (t) => {
  const variables = await start(t, { LATCHKEY_ADMIN_PASSWORD: ADMIN.password, OTHER: 'stays' })
  assert.equal('LATCHKEY_ADMIN_PASSWORD' in variables, false)
  assert.equal(JSON.stringify(variables).includes(ADMIN.password), false)
  assert.equal(variables['OTHER'], 'stays')
  assert.ok(variables['PATH'])
})

const filledIn = (name: string) => ['$', `{${name}}`].join('')

test('nor the installation secret, nor the secrets in a database URL or a header', async (t) => {
  const postgres = await startPostgres()
  t.after(() => postgres.stop())
  // A separate home, with a configuration that was changed before its first start.
  const folder = await temporaryFolder(t)
  const init = await runLatchkey(t, ['init', '--home', join(folder, 'other')], {
    environment: { LATCHKEY_ADDRESS: 'localhost:0', LATCHKEY_ADMIN_PASSWORD: ADMIN.password },
  })
  assert.equal(init.code, 0, init.stderr)
  const home = join(folder, 'home')
  const config = {
    ...(await readConfig(join(folder, 'other'))),
    secret: { environment: 'INSTALLATION_SECRET' },
    db: filledIn('DATABASE'),
    telemetry: {
      traces: {
        endpoint: 'http://127.0.0.1:1/',
        headers: { authorization: `Bearer ${filledIn('COLLECTOR_TOKEN')}` },
      },
    },
    log: { level: filledIn('LEVEL') },
  }
  await mkdir(home, { mode: 0o700 })
  await writeFile(join(home, 'controller.yml'), stringify(config), { mode: 0o600 })
  const variables = await start(
    t,
    {
      INSTALLATION_SECRET: randomBytes(32).toString('base64url'),
      DATABASE: await postgres.freshDatabase(),
      COLLECTOR_TOKEN: 'a token for the collector',
      LEVEL: 'info',
    },
    home,
  )
  const left = ['INSTALLATION_SECRET', 'DATABASE', 'COLLECTOR_TOKEN', 'LEVEL'].filter(
    (name) => name in variables,
  )
  assert.deepEqual(left, ['LEVEL'])
})

test('the browser that the command line opens does not inherit the password', async (t) => {
  const service = await startChild(t)
  const folder = await temporaryFolder(t)
  const file = join(folder, 'environment')
  await mkdir(join(folder, 'bin'))
  const script = `#!/bin/sh\nenv > '${file}.new' && mv '${file}.new' '${file}'\n`
  await writeFile(join(folder, 'bin', 'xdg-open'), script, { mode: 0o755 })
  const login = ['login', '--url', service.baseUrl, '--ca', service.caFile]
  const child = spawnLatchkey(t, login, {
    environment: {
      PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH']}`,
      DISPLAY: ':0',
      XDG_CONFIG_HOME: folder,
      LATCHKEY_ADMIN_PASSWORD: ADMIN.password,
    },
  })
  let text = ''
  await waitFor(
    async () => {
      text = await readFile(file, 'utf8').catch(() => '')
      return text !== ''
    },
    () => `the browser: ${child.output.stdout}${child.output.stderr}`,
    child,
  )
  assert.match(text, /^DISPLAY=:0$/m)
  assert.doesNotMatch(text, /LATCHKEY_ADMIN_PASSWORD/)
})
