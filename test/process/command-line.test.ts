/**
 * The command line: what it explains, what it refuses, and which folder it takes for its home. D-43.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { readdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { days } from '../../src/base/time/duration.ts'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { httpClient } from '../support/http-client.ts'
import { changeConfig, homeWithDatabase } from '../support/process/child-home.ts'
import { spawnLatchkey, waitFor } from '../support/process/child-service.ts'
import { CHEAP_PROGRAM, childEnvironment, PROGRAM } from '../support/process/program.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { temporaryFolder } from '../support/service.ts'

const environment = { LATCHKEY_ADDRESS: 'localhost:0', LATCHKEY_ADMIN_PASSWORD: 'a long password' }

test('--help names every command and every option', async (t) => {
  for (const option of ['--help', '-h']) {
    const { code, stdout, stderr } = await runLatchkey(t, [option])
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    const words = ['run', 'init', 'config check', 'keys rotate', 'gateway']
    for (const word of [...words, 'secret rotate', 'admin recover']) {
      assert.match(stdout, new RegExp(`^  ${word} `, 'm'))
    }
    for (const word of ['--home', '--config', 'LATCHKEY_HOME']) assert.ok(stdout.includes(word))
  }
})

test('no argument, help and help for a command show what there is', async (t) => {
  const { stdout: whole } = await runLatchkey(t, ['--help'])
  for (const args of [[], ['help'], ['help', '--json']]) {
    const { code, stdout } = await runLatchkey(t, args)
    assert.deepEqual({ code, stdout }, { code: 0, stdout: whole }, args.join(' '))
  }
  const { stdout: login } = await runLatchkey(t, ['login', '--help'])
  assert.equal((await runLatchkey(t, ['help', 'login'])).stdout, login)
})

test('--version is the version of the package', async (t) => {
  const manifest = JSON.parse(
    await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  for (const word of ['--version', 'version']) {
    const { code, stdout } = await runLatchkey(t, [word])
    assert.deepEqual({ code, stdout }, { code: 0, stdout: `${manifest.version}\n` })
  }
})

test('what the command line does not know is named, with exit code 64', async (t) => {
  const whole = '"latchkey --help" lists the commands.'
  const see = (words: string) => `See "latchkey ${words} --help".`
  const cases: readonly (readonly [args: string[], complaint: string, next: string])[] = [
    [['--home', 'x'], 'a command is missing', whole],
    [['--hoem', 'x'], 'there is no command "x"', whole],
    [['--hoem'], 'unknown option --hoem', whole],
    [['start'], 'there is no command "start". Did you mean "run"?', whole],
    [['frobnicate'], 'there is no command "frobnicate"', whole],
    [['help', 'frobnicate'], 'there is no command "frobnicate"', whole],
    [
      ['idenity', 'list'],
      'there is no command "idenity list". Did you mean "list identities"?',
      see('list'),
    ],
    [['keys'], '"keys" needs another word: list, rotate', see('keys')],
    [
      ['disable', 'alice'],
      'there is no command "disable alice". Did you mean "disable identity" or "mfa disable"?',
      see('disable'),
    ],
    [['list', 'frobs', '--help'], 'there is no command "list frobs"', see('list')],
    [['run', 'fast'], '"run" takes no "fast"', see('run')],
    [['run', '--hom', 'x'], 'unknown option --hom. Did you mean "--home"?', see('run')],
    [['run', '--username', 'x'], '"run" takes no --username', see('run')],
    [['run', '--home'], '--home needs a value: --home DIR', see('run')],
    [['run', '--home', ''], '--home is empty', see('run')],
    [['run', '--config='], '--config is empty', see('run')],
    [['run', '--home', 'x', '--home', 'y'], '--home can be given only once', see('run')],
    [
      ['identities', 'list', '--limit', 'x'],
      '--limit must be a whole number',
      see('list identities'),
    ],
  ]
  for (const [args, complaint, next] of cases) {
    const { code, stdout, stderr } = await runLatchkey(t, args)
    assert.equal(stderr, `latchkey: ${complaint}\n${next}\n`)
    assert.equal(code, 64, args.join(' '))
    assert.equal(stdout, '')
  }
})

test('the help of a word that several commands have lists these commands', async (t) => {
  const { code, stdout, stderr } = await runLatchkey(t, ['list', '--help'])
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  assert.match(stdout, /^Usage: latchkey list <identities\|/)
  for (const words of ['list identities', 'list cas', 'list routers', 'context list']) {
    assert.match(stdout, new RegExp(`^  ${words} `, 'm'))
  }
  assert.doesNotMatch(stdout, /^ {2}(login|run|create identity) /m)
  assert.equal((await runLatchkey(t, ['help', 'list'])).stdout, stdout)

  const identity = await runLatchkey(t, ['identities', '-h'])
  for (const words of ['list identities', 'create identity', 'describe identity']) {
    assert.match(identity.stdout, new RegExp(`^  ${words} `, 'm'))
  }
})

test('the home is --home, else LATCHKEY_HOME, else ./latchkey-data', async (t) => {
  const cwd = await realpath(await temporaryFolder(t))
  const made = async (args: readonly string[], variable: string | undefined) => {
    const { code, stdout, stderr } = await runLatchkey(t, ['init', ...args], {
      cwd,
      environment: { ...environment, LATCHKEY_HOME: variable },
    })
    assert.equal(code, 0, stderr)
    return /^The home (.*) is prepared\.$/m.exec(stdout)?.[1]
  }
  assert.equal(await made(['--home', 'given'], join(cwd, 'variable')), join(cwd, 'given'))
  assert.equal(await made([], join(cwd, 'variable')), join(cwd, 'variable'))
  // An empty variable is as good as none.
  assert.equal(await made([], ''), join(cwd, 'latchkey-data'))
  assert.deepEqual((await readdir(cwd)).sort(), ['given', 'latchkey-data', 'variable'])
})

/** A prepared home, to be spoilt. */
async function preparedHome(t: TestContext): Promise<string> {
  const home = join(await temporaryFolder(t), 'home')
  const { code, stderr } = await runLatchkey(t, ['init', '--home', home], { environment })
  assert.equal(code, 0, stderr)
  return home
}

test('config check', async (t) => {
  const home = await preparedHome(t)
  const check = () => runLatchkey(t, ['config', 'check', '--home', home])

  await t.test('says that a new file is good, with exit code 0', async () => {
    const { code, stdout, stderr } = await check()
    assert.deepEqual(
      { code, stdout, stderr },
      { code: 0, stdout: 'The configuration is valid.\n', stderr: '' },
    )
  })

  await t.test('prints every value that is adjusted, with exit code 0', async () => {
    await changeConfig(home, (config) => {
      config.edge = { oidc: { accessTokenDuration: '5s', idTokenDuration: '0s' } }
    })
    const { code, stdout } = await check()
    assert.equal(code, 0)
    const [access, id, verdict] = stdout.split('\n')
    assert.match(access ?? '', /edge\.oidc\.accessTokenDuration.*5s.*1m/)
    assert.match(id ?? '', /edge\.oidc\.idTokenDuration.*0s.*1m/)
    assert.equal(verdict, 'The configuration is valid, with the adjustments above.')
  })

  await t.test('prints every problem at once, with exit code 78', async () => {
    await changeConfig(home, (config) => {
      config.edge = { brnad: 'x', oidc: { accessTokenDuration: 'soon', keyRotation: '11y' } }
      config.identity = { cert: 'missing.pem', key: 'missing.key' }
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
      config.log = { level: '${LATCHKEY_TEST_UNSET}' }
    })
    const { code, stdout, stderr } = await check()
    assert.deepEqual({ code, stdout }, { code: 78, stdout: '' })
    assert.match(stderr, new RegExp(`^${home}/controller\\.yml has \\d problems:\n`))
    assert.match(stderr, /^ {2}edge\.brnad: is not a known key; .*edge\.brand/m)
    for (const path of [
      'edge.oidc.accessTokenDuration',
      'edge.oidc.keyRotation',
      'identity.cert',
    ]) {
      assert.match(stderr, new RegExp(`^  ${path.replaceAll('.', '\\.')}: `, 'm'))
    }
    assert.match(stderr, /LATCHKEY_TEST_UNSET/)
    assert.ok(existsSync(home))
  })

  await t.test('says the same as a start', async () => {
    const checked = await check()
    const started = await runLatchkey(t, ['run', '--home', home])
    assert.deepEqual(started, checked)
  })

  await t.test('refuses certificates that a start would refuse, each once', async (t) => {
    const openssl = await openOpenssl()
    t.after(() => openssl.close())
    const own = await preparedHome(t)
    const ca = await openssl.makeCa()
    const expired = await openssl.makeLeaf(ca, { notBefore: days(-2), notAfter: days(-1) })
    const [cert, key] = [join(own, 'own.pem'), join(own, 'own.key')]
    await writeFile(cert, expired.pem)
    await writeFile(key, expired.keyPem, { mode: 0o600 })
    await changeConfig(own, (config) => {
      config.identity = { cert, key }
      const point = { interface: '127.0.0.1:1281', address: 'localhost:1281' }
      config.web.push({ ...config.web[0], name: 'other', bindPoints: [point] })
    })
    const { code, stdout, stderr } = await runLatchkey(t, ['config', 'check', '--home', own])
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
    assert.match(stderr, new RegExp(`^latchkey: ${cert}: the certificate expired at [^\\n]*\\n$`))
    const started = await runLatchkey(t, ['run', '--home', own])
    assert.equal(started.code, 1)
    assert.ok(started.stderr.endsWith(`\n${stderr}`), started.stderr)
  })

  await t.test('makes nothing where there is nothing', async () => {
    const nowhere = join(home, 'nowhere')
    const { code, stderr } = await runLatchkey(t, ['config', 'check', '--home', nowhere])
    assert.equal(code, 78)
    assert.match(stderr, /nowhere\/controller\.yml has one problem:\n {2}there is no such file\n/)
    assert.match(stderr, /\nTo create it: latchkey init --home \S+\/nowhere\n$/)
    assert.ok(!existsSync(nowhere))
  })
})

test('--config names another file, which must exist', async (t) => {
  const home = await preparedHome(t)
  const other = join(home, 'other.yml')
  const missing = await runLatchkey(t, ['run', '--home', home, '--config', other])
  assert.equal(missing.code, 78)
  assert.match(missing.stderr, /other\.yml has one problem:\n {2}there is no such file/)
  await writeFile(other, 'v: 2\n', { mode: 0o600 })
  const wrong = await runLatchkey(t, ['config', 'check', '--home', home, '--config', other])
  assert.equal(wrong.code, 78)
  assert.match(wrong.stderr, /other\.yml has 2 problems:\n {2}v: .*\n {2}web: is missing/)
})

test('an address that clients cannot connect to is refused before anything is created', async (t) => {
  const home = join(await temporaryFolder(t), 'home')
  const { code, stderr } = await runLatchkey(t, ['run', '--home', home], {
    environment: { LATCHKEY_ADDRESS: '0.0.0.0:1280' },
  })
  assert.equal(code, 78)
  assert.match(
    stderr,
    /^LATCHKEY_ADDRESS has one problem:\n {2}"0\.0\.0\.0:1280" is not an address/,
  )
  assert.ok(!existsSync(home))
})

test('a Node that is too old gets one sentence that says what to do', async (t) => {
  const old = olderNode()
  const shim = join(await temporaryFolder(t), 'shim.cjs')
  await writeFile(
    shim,
    `Object.defineProperty(process.versions, 'node', { value: '20.20.2' })
     Object.defineProperty(process, 'version', { value: 'v20.20.2' })`,
  )
  const started =
    old === undefined
      ? await runLatchkey(t, ['run'], { nodeArguments: ['--require', shim], program: PROGRAM })
      : await runLatchkey(t, ['run'], { node: old, program: PROGRAM })
  assert.equal(started.code, 1)
  assert.equal(started.stdout, '')
  assert.match(
    started.stderr,
    /^latchkey needs Node 24 or newer and was started by v\d+\.\d+\.\d+: in a checkout run "npm ci" and "npm start"[^\n]*\.\n$/,
  )
})

test('when the reader of the output is gone, a command ends silently with exit code 141', async (t) => {
  const child = spawnLatchkey(t, ['--help'])
  child.process.stdout?.destroy()
  const { code, stderr } = await child.finished
  assert.deepEqual({ code, stderr }, { code: 141, stderr: '' })
})

const skip = !existsSync('/dev/full') && 'there is no device that is always full'

test('output that cannot be written is one sentence and exit code 1', { skip }, async () => {
  const full = openSync('/dev/full', 'w')
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, '--help'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  closeSync(full)
  assert.match(stderr, /^latchkey: the output cannot be written: ENOSPC: [^\n]*\n$/)
  assert.equal(status, 1)
})

test('a service runs although its output cannot be written, and says so in the log', {
  skip,
}, async (t) => {
  const home = await homeWithDatabase(t)
  const full = openSync('/dev/full', 'w')
  const service = spawn(process.execPath, [CHEAP_PROGRAM, 'run', '--home', home], {
    env: childEnvironment(),
    stdio: ['ignore', full, 'pipe'],
  })
  closeSync(full)
  const ended = once(service, 'close')
  t.after(() => service.kill('SIGKILL'))
  let log = ''
  service.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  await waitFor(
    () => log.includes('ENOSPC') && log.includes('"baseUrls"'),
    () => log,
  )
  assert.match(log, /^latchkey: the output cannot be written: ENOSPC: .*$/m)
  const [, baseUrl = ''] = /"baseUrls":\["([^"]+)"/.exec(log) ?? []
  const { call } = httpClient(await readFile(join(home, 'pki', 'ca.pem'), 'utf8'))
  assert.equal((await call(`${baseUrl}/version`)).status, 200, log)
  service.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null], log)
})

/** A Node on the path that is older than the oldest we run on. */
function olderNode(): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .filter((path) => existsSync(path))
    .find((path) => {
      const version = execFileSync(path, ['--version'], { encoding: 'utf8' })
      return Number(/^v(\d+)/.exec(version)?.[1]) < 24
    })
}
