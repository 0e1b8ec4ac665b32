/**
 * `latchkey trust`: makes the browsers and programs of this user trust the CA of a service, and `--remove` undoes it.
 * Prints what it will do and asks before it does it; what only root can do, it prints as commands. D-341.
 */
import type { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { caFileOf } from '../../app/core.ts'
import { readCertificate } from '../../base/certificates.ts'
import { shellWord } from '../../base/shell-word.ts'
import { confirm } from '../admin/entities/delete-entity.ts'
import { readHomeOptions } from '../home/home-options.ts'
import { loadInstalled } from '../home/installed-config.ts'
import { CommandFailed, EXIT, type ExitCode, type Io } from '../terminal/io.ts'
import { type Machine, thisMachine } from './machine.ts'
import { nameOf, type Store, storesOf, type TrustedCa } from './stores.ts'

export interface TrustValues {
  readonly home?: string
  readonly config?: string
  readonly ca?: string
  readonly remove?: boolean
  readonly yes?: boolean
}

/** One CA in one store. */
interface Step {
  readonly store: Store
  readonly ca: TrustedCa
  readonly commands: readonly (readonly string[])[]
}

export async function trust(
  values: TrustValues,
  io: Io,
  machine: Machine = thisMachine(io.variables),
): Promise<ExitCode> {
  const action = values.remove === true ? 'remove' : 'add'
  const { path, pem } = await readCa(values, io)
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-ca-'))
  let isKept = false
  try {
    const cas = await writeRoots(pem, folder)
    describe(cas, action, io)
    const { steps, settled } = await plan(cas, action, machine)
    for (const { store } of settled) io.out(`${SETTLED[action]} ${store.title}`)
    const possible = steps.filter(({ store }) => store.lacks === undefined)
    const others = steps.filter(({ store }) => store.lacks !== undefined)

    const failed = await carryOut(possible, action, { values, io, machine })
    advise(others, io)
    // The commands for root name the file.
    isKept = action === 'add' && others.some(({ store }) => store.lacks === 'root')
    if (steps.length === 0 && settled.length === 0) {
      io.out('No trust store was found on this machine.')
      io.out(
        action === 'add'
          ? `In a browser, import ${path} in its settings for certificates, as an authority.`
          : 'In a browser, delete this CA in its settings for certificates.',
      )
    }
    if (possible.length > failed) io.out('Restart browsers that are open.')
    const isDone = failed === 0 && possible.length + settled.length > 0
    return isDone ? EXIT.ok : EXIT.failed
  } finally {
    if (!isKept) await rm(folder, { recursive: true })
  }
}

const SETTLED = { add: 'Already trusted by', remove: 'Not trusted by' } as const

async function readCa({ ca, ...home }: TrustValues, io: Io) {
  const path =
    ca === undefined ? caFileOf(await loadInstalled(readHomeOptions(home, io))) : io.resolve(ca)
  if (path === undefined) {
    throw new CommandFailed(
      'the certificate of this service is configured without a CA (identity.ca); name the CA with --ca',
    )
  }
  try {
    return { path, pem: await readFile(path, 'utf8') }
  } catch {
    const advice = ca === undefined ? '; start the service once, or name the CA with --ca' : ''
    throw new CommandFailed(`cannot read the CA ${path}${advice}`, EXIT.missing)
  }
}

/** Writes each root into a file of its own: stores take one certificate at a time, and intermediates do not belong there. */
async function writeRoots(pem: string, folder: string): Promise<readonly TrustedCa[]> {
  const roots = (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [])
    .map(parsed)
    .filter((one) => one.ca && one.checkIssued(one) && one.verify(one.publicKey))
  if (roots.length === 0) throw new CommandFailed('the file has no root CA', EXIT.data)
  const hex = (text: string) => text.replaceAll(':', '').toLowerCase()
  return Promise.all(
    roots.map(async (root) => {
      const fingerprint = hex(root.fingerprint256)
      const file = join(folder, `latchkey-${fingerprint.slice(0, 16)}.pem`)
      await writeFile(file, root.toString(), { mode: 0o644 })
      return { file, fingerprint, thumbprint: hex(root.fingerprint) }
    }),
  )
}

function parsed(pem: string): X509Certificate {
  const certificate = readCertificate(pem)
  if (certificate !== undefined) return certificate
  throw new CommandFailed('the file has something that is not a certificate', EXIT.data)
}

function describe(cas: readonly TrustedCa[], action: 'add' | 'remove', io: Io): void {
  for (const ca of cas) {
    io.out(nameOf(ca))
    io.out(`  SHA-256  ${(ca.fingerprint.match(/../g) ?? []).join(':').toUpperCase()}`)
  }
  if (action === 'remove') return
  io.out(
    'Anyone with the database and the installation secret of the service can then impersonate any',
  )
  io.out('site to this user. Do it only for a service of your own.')
}

async function plan(cas: readonly TrustedCa[], action: 'add' | 'remove', machine: Machine) {
  const steps: Step[] = []
  const settled: Pick<Step, 'store' | 'ca'>[] = []
  for (const store of await storesOf(machine)) {
    for (const ca of cas) {
      const isThere = await store.has(ca)
      if (isThere === (action === 'add')) settled.push({ store, ca })
      else steps.push({ store, ca, commands: store.commands(ca, action) })
    }
  }
  return { steps, settled }
}

/** Returns how many steps failed. */
async function carryOut(
  steps: readonly Step[],
  action: 'add' | 'remove',
  { values, io, machine }: { values: TrustValues; io: Io; machine: Machine },
): Promise<number> {
  if (steps.length === 0) return 0
  io.out(action === 'add' ? 'To be added to:' : 'To be removed from:')
  for (const { store, commands } of steps) {
    io.out(`  ${store.title}`)
    for (const command of commands) io.out(`    ${command.map(shellWord).join(' ')}`)
  }
  await confirm(action === 'add' ? 'Add it?' : 'Remove it?', values, io)
  let failed = 0
  for (const { store, commands } of steps) {
    const problem = await firstProblem(commands, machine)
    if (problem === undefined) io.out(`${DONE[action]} ${store.title}`)
    else {
      failed += 1
      io.err(`latchkey: ${store.title}: ${problem}`)
    }
  }
  return failed
}

const DONE = { add: 'Added to', remove: 'Removed from' } as const

async function firstProblem(
  commands: Step['commands'],
  machine: Machine,
): Promise<string | undefined> {
  for (const command of commands) {
    const { ok, output } = await machine.run(command)
    if (!ok) return `${command[0]} failed${output === '' ? '' : `: ${output.split('\n').at(-1)}`}`
  }
  return undefined
}

/** What this user cannot do, as commands to paste. */
function advise(steps: readonly Step[], io: Io): void {
  for (const { store, commands } of steps.filter(({ store }) => store.lacks === 'root')) {
    io.out(`For ${store.title}, which only root may change, run:`)
    for (const command of commands) io.out(`  ${['sudo', ...command].map(shellWord).join(' ')}`)
  }
  const browsers = steps.filter(({ store }) => store.lacks === 'certutil')
  if (browsers.length === 0) return
  io.out('certutil is missing. Install it, and run this command again, for:')
  for (const title of new Set(browsers.map(({ store }) => store.title))) io.out(`  ${title}`)
  for (const line of CERTUTIL_PACKAGES) io.out(`  ${line}`)
}

const CERTUTIL_PACKAGES = [
  'Debian, Ubuntu:  sudo apt install libnss3-tools',
  'Fedora:          sudo dnf install nss-tools',
  'Arch:            sudo pacman -S nss',
  'macOS:           brew install nss',
]
