/** `latchkey trust` on machines that do not exist: which commands it would run, and what it says. D-341. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { openOpenssl } from '../../../test/support/certificates/openssl.ts'
import { CommandFailed, EXIT, type Io } from '../terminal/io.ts'
import type { Machine } from './machine.ts'
import { trust } from './trust.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const root = await openssl.makeCa({ subject: '/CN=Root' })
const leaf = await openssl.makeLeaf(root, { subject: '/CN=localhost' })

const DEBIAN = '/usr/local/share/ca-certificates'
const FIREFOX = '/home/u/.mozilla/firefox'

interface Pretended {
  readonly platform?: NodeJS.Platform
  readonly isRoot?: boolean
  readonly files?: readonly string[]
  readonly programs?: readonly string[]
  readonly fails?: (command: readonly string[]) => boolean
}

async function start(t: TestContext, pretended: Pretended = {}, pem = `${root.pem}\n${leaf.pem}`) {
  const { platform = 'linux', isRoot = false, files = [], programs = [] } = pretended
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-trust-'))
  t.after(() => rm(folder, { recursive: true }))
  const ca = join(folder, 'ca.pem')
  await writeFile(ca, pem)
  const commands: (readonly string[])[] = []
  const lines: string[] = []
  const installed = new Set<string>()
  const machine: Machine = {
    platform,
    userHome: '/home/u',
    isRoot,
    exists: async (path) =>
      installed.has(path) || files.some((file) => `${file}/`.startsWith(`${path}/`)),
    list: async (parent) =>
      files
        .filter((file) => file.startsWith(`${parent}/`))
        .map((file) => file.split('/').at(-2) ?? ''),
    has: async (program) => programs.includes(program),
    async run(command) {
      const [program, action] = command
      const key = `${program} ${command.join(' ').match(/sql:\S+/)?.[0]}`
      if (program === 'certutil' && action === '-L') return { ok: installed.has(key), output: '' }
      if (pretended.fails?.(command)) return { ok: false, output: 'first\nno such thing' }
      commands.push(command)
      if (program === 'certutil' && action === '-A') installed.add(key)
      if (program === 'certutil' && action === '-D') installed.delete(key)
      if (program === 'install') installed.add(command.at(-1) ?? '')
      if (program === 'rm') installed.delete(command.at(-1) ?? '')
      return { ok: true, output: '' }
    },
  }
  const answers: string[] = []
  const io = {
    out: (line: string) => lines.push(line),
    err: (line: string) => lines.push(line),
    resolve: (path: string) => path,
    variables: {},
    isInteractive: true,
    ask: async (question: string) => {
      lines.push(question)
      return answers.shift() ?? 'y'
    },
  } as unknown as Io
  const run = (more: { remove?: boolean; yes?: boolean } = {}) => {
    commands.length = 0
    lines.length = 0
    return trust({ ca, ...more }, io, machine)
  }
  return { run, commands, lines, answers, io, ca }
}

const WITH_BROWSERS = {
  files: [DEBIAN, '/home/u/.pki/nssdb/cert9.db', `${FIREFOX}/x.default/cert9.db`],
  programs: ['update-ca-certificates', 'certutil'],
}

test('root adds it to the system and to browsers, and removes it again', async (t) => {
  const { run, commands, lines } = await start(t, { ...WITH_BROWSERS, isRoot: true })
  assert.equal(await run(), 0)
  const [install, update, chromium, firefox] = [...commands]
  assert.deepEqual(install?.slice(0, 3), ['install', '-m', '0644'])
  assert.match(
    install?.[4] ?? '',
    /^\/usr\/local\/share\/ca-certificates\/latchkey-[0-9a-f]{16}\.crt$/,
  )
  assert.deepEqual(update, ['update-ca-certificates'])
  assert.match(
    chromium?.join(' ') ?? '',
    /^certutil -A -d sql:\/home\/u\/\.pki\/nssdb -t C,, -n Latchkey CA \w{16} -i /,
  )
  assert.match(
    firefox?.join(' ') ?? '',
    /^certutil -A -d sql:\/home\/u\/\.mozilla\/firefox\/x\.default /,
  )
  assert.equal(existsSync(install?.[3] ?? ''), false, 'its file is gone')

  // What it does is printed before it asks, with the fingerprint.
  const asked = lines.indexOf('Add it? [y/N] ')
  const before = lines.slice(0, asked).join('\n')
  assert.match(before, /^Latchkey CA \w{16}\n {2}SHA-256 {2}[0-9A-F]{2}(:[0-9A-F]{2}){31}\n/)
  assert.match(before, /update-ca-certificates/)
  assert.match(before, /certutil -A/)

  assert.equal(await run(), 0)
  assert.equal(commands.length, 0, 'a second time there is nothing to do')
  assert.equal(lines.filter((line) => line.startsWith('Already trusted by')).length, 3)

  assert.equal(await run({ remove: true }), 0)
  assert.deepEqual(
    commands.map(([program, option]) => [program, option]),
    [
      ['rm', '-f'],
      ['update-ca-certificates', '--fresh'],
      ['certutil', '-D'],
      ['certutil', '-D'],
    ],
  )
  assert.equal(await run({ remove: true }), 0)
  assert.equal(commands.length, 0)
})

test('without root, the system store is left to commands that can be pasted', async (t) => {
  const { run, commands, lines } = await start(t, WITH_BROWSERS)
  assert.equal(await run(), 0)
  assert.deepEqual(new Set(commands.map(([program]) => program)), new Set(['certutil']))
  const at = lines.findIndex((line) => line.includes('only root may change'))
  const [, file = ''] = /^ {2}sudo install -m 0644 (\S+) /.exec(lines[at + 1] ?? '') ?? []
  assert.equal(lines[at + 2], '  sudo update-ca-certificates')
  assert.ok(readFileSync(file, 'utf8').includes('BEGIN CERTIFICATE'), 'the file stays for that')
  await rm(join(file, '..'), { recursive: true })
})

test('only the root of the file is installed', async (t) => {
  const { run, lines } = await start(t, WITH_BROWSERS)
  await run({ remove: true })
  assert.equal(lines.filter((line) => line.startsWith('Latchkey CA')).length, 1)
  const none = await start(t, WITH_BROWSERS, leaf.pem)
  await assert.rejects(none.run(), new CommandFailed('the file has no root CA', EXIT.data))
  const broken = await start(t, WITH_BROWSERS, root.pem.replace(/\n[^-]/, '\nX'))
  await assert.rejects(broken.run(), CommandFailed)
})

test('browsers without certutil get advice, and the exit code says that nothing was done', async (t) => {
  const { run, commands, lines } = await start(t, { ...WITH_BROWSERS, programs: [] })
  assert.equal(await run(), 1)
  assert.equal(commands.length, 0)
  assert.ok(lines.some((line) => line.includes('libnss3-tools')))
})

test('a machine without a store is told where to import it', async (t) => {
  const { run, lines, ca } = await start(t)
  assert.equal(await run(), 1)
  assert.match(lines.join('\n'), /No trust store was found/)
  assert.ok(lines.some((line) => line.includes(`import ${ca} `)))

  assert.equal(await run({ remove: true }), 1)
  assert.ok(!lines.some((line) => line.includes('import')))
  assert.ok(lines.some((line) => line.includes('delete this CA in its settings')))
})

test('macOS and Windows have commands of their own', async (t) => {
  const mac = await start(t, { platform: 'darwin' })
  assert.equal(await mac.run(), 0)
  assert.deepEqual(mac.commands[0]?.slice(0, 5), [
    'security',
    'add-trusted-cert',
    '-r',
    'trustRoot',
    '-k',
  ])
  assert.equal(await mac.run({ remove: true }), 0)
  assert.deepEqual(
    mac.commands.map(([, action]) => action),
    ['remove-trusted-cert', 'delete-certificate'],
  )
  const windows = await start(t, { platform: 'win32' })
  assert.equal(await windows.run(), 0)
  assert.deepEqual(windows.commands[0]?.slice(0, 4), ['certutil', '-user', '-addstore', 'Root'])
  assert.equal(await windows.run({ remove: true }), 0)
  assert.match(windows.commands[0]?.join(' ') ?? '', /^certutil -user -delstore Root [0-9a-f]{40}$/)
})

test('no answer but yes does anything, and without a terminal --yes is needed', async (t) => {
  const { run, commands, answers, io } = await start(t, { ...WITH_BROWSERS, isRoot: true })
  answers.push('n')
  await assert.rejects(run(), new CommandFailed('nothing was done'))
  assert.equal(commands.length, 0)
  Object.assign(io, { isInteractive: false })
  await assert.rejects(run(), /Pass --yes to confirm/)
  assert.equal(commands.length, 0)
  assert.equal(await run({ yes: true }), 0)
})

test('a store that fails does not stop the others', async (t) => {
  const fails = ([program = '']: readonly string[]) => program === 'install'
  const { run, commands, lines } = await start(t, { ...WITH_BROWSERS, isRoot: true, fails })
  assert.equal(await run(), 1)
  assert.equal(commands.length, 2)
  assert.ok(lines.some((line) => /: install failed: no such thing$/.test(line)))
})
