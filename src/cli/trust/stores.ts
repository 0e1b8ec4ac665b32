/**
 * The trust stores of a user: the system's, and those of Firefox and Chromium, which have their own. The same places
 * and commands as mkcert's. A store either gets a command that this user can run, or advice that says what to run. D-341.
 */
import { posix, win32 } from 'node:path'
import type { Machine } from './machine.ts'

/** A CA to install: its PEM file with one certificate, and the name that stores show. */
export interface TrustedCa {
  readonly file: string
  /** Hexadecimal SHA-256, in lower case, without colons. */
  readonly fingerprint: string
  /** Hexadecimal SHA-1, by which macOS and Windows delete. */
  readonly thumbprint: string
}

export interface Store {
  readonly title: string
  /** Whether the CA is in it; undefined if only trying can tell. */
  has(ca: TrustedCa): Promise<boolean | undefined>
  /** The commands that add or remove it, in this order. */
  commands(ca: TrustedCa, action: 'add' | 'remove'): readonly (readonly string[])[]
  /** What this user lacks to run them: the rights of root, or the program certutil. */
  readonly lacks?: 'root' | 'certutil'
}

/** Long enough that no two of our CAs share it. */
export const nameOf = ({ fingerprint }: TrustedCa) => `Latchkey CA ${fingerprint.slice(0, 16)}`

export async function storesOf(machine: Machine): Promise<readonly Store[]> {
  const own = await systemStore(machine)
  return [...(own === undefined ? [] : [own]), ...(await browserStores(machine))]
}

async function systemStore(machine: Machine): Promise<Store | undefined> {
  if (machine.platform === 'darwin') return macStore(machine)
  if (machine.platform === 'win32') return WINDOWS
  return linuxStore(machine)
}

/** By folder, as the distributions have them: Fedora, Debian, Arch, SUSE. */
const LINUX = [
  ['/etc/pki/ca-trust/source/anchors', 'pem', ['update-ca-trust', 'extract']],
  ['/usr/local/share/ca-certificates', 'crt', ['update-ca-certificates']],
  ['/etc/ca-certificates/trust-source/anchors', 'crt', ['trust', 'extract-compat']],
  ['/usr/share/pki/trust/anchors', 'pem', ['update-ca-certificates']],
] as const

async function linuxStore(machine: Machine): Promise<Store | undefined> {
  for (const [folder, extension, update] of LINUX) {
    if (!(await machine.exists(folder)) || !(await machine.has(update[0]))) continue
    const place = ({ fingerprint }: TrustedCa) =>
      posix.join(folder, `latchkey-${fingerprint.slice(0, 16)}.${extension}`)
    return {
      title: `the system (${folder})`,
      has: (ca) => machine.exists(place(ca)),
      commands: (ca, action) => [
        action === 'add' ? ['install', '-m', '0644', ca.file, place(ca)] : ['rm', '-f', place(ca)],
        // Without this option, Debian keeps the link to a file that was removed.
        action === 'remove' && update[0] === 'update-ca-certificates'
          ? [...update, '--fresh']
          : update,
      ],
      ...(machine.isRoot ? {} : { lacks: 'root' }),
    }
  }
  return undefined
}

function macStore({ userHome }: Machine): Store {
  const keychain = posix.join(userHome, 'Library/Keychains/login.keychain-db')
  return {
    title: 'your login keychain, for Safari, Chrome and other programs',
    has: async () => undefined,
    commands: (ca, action) =>
      action === 'add'
        ? [['security', 'add-trusted-cert', '-r', 'trustRoot', '-k', keychain, ca.file]]
        : [
            ['security', 'remove-trusted-cert', ca.file],
            ['security', 'delete-certificate', '-Z', ca.thumbprint.toUpperCase(), keychain],
          ],
  }
}

const WINDOWS: Store = {
  title: 'your Windows certificate store, for Edge, Chrome and other programs',
  has: async () => undefined,
  commands: (ca, action) => [
    action === 'add'
      ? ['certutil', '-user', '-addstore', 'Root', ca.file]
      : ['certutil', '-user', '-delstore', 'Root', ca.thumbprint],
  ],
}

/** NSS databases: one of Chromium, and one in each profile of Firefox. */
async function browserStores(machine: Machine): Promise<readonly Store[]> {
  const databases = await nssDatabases(machine)
  // On Windows, `certutil` is another program.
  if (databases.length === 0 || machine.platform === 'win32') return []
  const hasCertutil = await machine.has('certutil')
  return databases.map(({ title, folder }): Store => {
    const at = ['-d', `sql:${folder}`]
    return {
      title,
      async has(ca) {
        if (!hasCertutil) return undefined
        return (await machine.run(['certutil', '-L', ...at, '-n', nameOf(ca)])).ok
      },
      commands: (ca, action) => [
        action === 'add'
          ? ['certutil', '-A', ...at, '-t', 'C,,', '-n', nameOf(ca), '-i', ca.file]
          : ['certutil', '-D', ...at, '-n', nameOf(ca)],
      ],
      ...(hasCertutil ? {} : { lacks: 'certutil' }),
    }
  })
}

async function nssDatabases(machine: Machine) {
  const { userHome, platform } = machine
  const at = (path: string) => (platform === 'win32' ? win32 : posix).join(userHome, path)
  const chromium = ['.pki/nssdb', 'snap/chromium/current/.pki/nssdb'].map(at)
  const profiles =
    platform === 'darwin'
      ? ['Library/Application Support/Firefox/Profiles']
      : ['.mozilla/firefox', 'snap/firefox/common/.mozilla/firefox', '.config/mozilla/firefox']
  const found: { readonly title: string; readonly folder: string }[] = []
  const isDatabase = (folder: string) => machine.exists(posix.join(folder, 'cert9.db'))
  for (const folder of chromium) {
    if (await isDatabase(folder)) found.push({ title: `Chromium and Chrome (${folder})`, folder })
  }
  for (const parent of profiles.map(at)) {
    for (const name of await machine.list(parent)) {
      const folder = posix.join(parent, name)
      if (await isDatabase(folder)) found.push({ title: `Firefox (${folder})`, folder })
    }
  }
  return found
}
