/**
 * The named contexts of a user: the server, what it is trusted by, and the login. `contexts.json` has no secret; each
 * context has its own credentials file, 0600 in a folder of 0700, written atomically. They are in `latchkey/` in the
 * user's configuration folder (D-164).
 */
import { rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readingFile, writingFile } from '../../app/installation/file-faults.ts'
import {
  makeFolder,
  makePrivateFolder,
  readText,
  refuseWorldReadable,
  replacePrivateFile,
} from '../../app/installation/private-files.ts'
import { isJsonObject, parseJson } from '../../base/json.ts'
import { attempt } from '../../base/node/attempt.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { readSavedSession, type SavedSession } from '../../client/saved-session.ts'
import { readUserEnvironment } from '../../config/environment.ts'
import { CommandFailed, EXIT, type Io, Misuse } from '../terminal/io.ts'
import { exclusively } from './exclusively.ts'

/** A server, and what it is trusted by. */
export interface Context {
  readonly url: string
  /** PEM. Default: what Node trusts. */
  readonly ca?: string | undefined
  readonly clientId?: string | undefined
}

/** The files of a certificate login. The key is read again for every use and never copied. */
export type CertificateFiles =
  | { readonly cert: string; readonly key: string }
  | { readonly identity: string }

export interface Credentials {
  readonly session: SavedSession
  /** Only for a certificate login. Absolute paths. */
  readonly certificate?: CertificateFiles
}

export interface NamedContext extends Context {
  readonly name: string
}

export interface Contexts {
  /** Sorted by name. */
  list(): Promise<{
    readonly current: string | undefined
    readonly contexts: readonly NamedContext[]
  }>
  /** Returns the named one, or else the current one; undefined if there is none. Throws for an unknown name. */
  find(name?: string): Promise<NamedContext | undefined>
  /** Adds or replaces it, and makes it the current one. */
  put(context: NamedContext): Promise<void>
  use(name: string): Promise<void>
  /** Also removes its credentials. */
  remove(name: string): Promise<void>
  credentials(name: string): Promise<Credentials | undefined>
  keepCredentials(name: string, credentials: Credentials): Promise<void>
  forgetCredentials(name: string): Promise<void>
  /** Run everything that can refresh or replace the credentials in here: a refresh token works once. */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>
}

/** A name is also a file name. */
const NAME = /^[a-z\d][\w.-]{0,63}$/i
const DEEPEST = 8

interface Listed {
  readonly current?: string
  readonly contexts: Readonly<Record<string, Context>>
}

export function checkContextName(name: string): string {
  if (!NAME.test(name)) {
    throw new Misuse(
      'the name of a context must be letters, digits, ".", "_" and "-", at most 64, beginning with a letter or digit',
    )
  }
  return name
}

function userFolder({ variables }: Pick<Io, 'variables'>): string {
  const { configFolder = join(homedir(), '.config') } = readUserEnvironment(variables)
  return join(configFolder, 'latchkey')
}

export function openContexts(io: Pick<Io, 'variables'>): Contexts {
  const folder = userFolder(io)
  const listFile = join(folder, 'contexts.json')
  const credentialsFolder = join(folder, 'credentials')
  const credentialsFile = (name: string) =>
    join(credentialsFolder, `${checkContextName(name)}.json`)

  async function makeFolders(): Promise<void> {
    await writingFile(folder, async () => {
      // The configuration folder is shared with other programs; if it is missing, create it as the XDG Base Directory
      // Specification says.
      await makeFolder(join(folder, '..'))
      await makePrivateFolder(folder)
      await makePrivateFolder(credentialsFolder)
    })
  }

  async function read(): Promise<Listed> {
    const text = await readingFile(listFile, () => readText(listFile))
    if (text === undefined) return { contexts: {} }
    const value = objectIn(text)
    const contexts = value?.['contexts']
    if (!isJsonObject(contexts) || !Object.values(contexts).every(isContext))
      throw unreadable(listFile)
    const current = value?.['current']
    return {
      ...(typeof current === 'string' ? { current } : {}),
      // Without a prototype: `constructor` is a valid name.
      contexts: Object.assign(Object.create(null), contexts),
    }
  }

  async function change(make: (before: Listed) => Listed): Promise<void> {
    await makeFolders()
    await exclusively(join(folder, 'contexts.lock'), async () => {
      const text = `${JSON.stringify(make(await read()), undefined, 2)}\n`
      await writingFile(listFile, () =>
        replacePrivateFile(listFile, text, { random: systemRandom }),
      )
    })
  }

  async function forgetCredentials(name: string): Promise<void> {
    await rm(credentialsFile(name), { force: true })
  }

  return {
    async list() {
      const { current, contexts } = await read()
      const names = Object.keys(contexts).sort()
      return { current, contexts: names.map((name) => named(name, contexts)) }
    },

    async find(name) {
      const { current, contexts } = await read()
      if (name !== undefined) return named(checkContextName(name), contexts)
      return current !== undefined && current in contexts ? named(current, contexts) : undefined
    },

    async put({ name, url, ca, clientId }) {
      checkContextName(name)
      const context = { url, ca, clientId }
      await change(({ contexts }) => ({
        current: name,
        contexts: { ...contexts, [name]: context },
      }))
    },

    async use(name) {
      await change(({ contexts }) => ({ current: named(name, contexts).name, contexts }))
    },

    async remove(name) {
      await change(({ current, contexts }) => {
        const { [named(name, contexts).name]: _, ...others } = contexts
        return {
          ...(current === name || current === undefined ? {} : { current }),
          contexts: others,
        }
      })
      await forgetCredentials(name)
    },

    async credentials(name) {
      const file = credentialsFile(name)
      const text = await readingFile(file, async () => {
        await refuseWorldReadable(file)
        return readText(file)
      })
      if (text === undefined) return undefined
      const { session, certificate } = objectIn(text) ?? {}
      if (!isSession(session) || !isCertificateFiles(certificate)) throw unreadable(file)
      return { session, ...(certificate === undefined ? {} : { certificate }) }
    },

    async keepCredentials(name, credentials) {
      await makeFolders()
      const text = `${JSON.stringify(credentials)}\n`
      const file = credentialsFile(name)
      await writingFile(file, () => replacePrivateFile(file, text, { random: systemRandom }))
    },

    forgetCredentials,

    async exclusively(name, work) {
      await makeFolders()
      return exclusively(join(credentialsFolder, `${checkContextName(name)}.lock`), work)
    },
  }
}

function named(name: string, contexts: Listed['contexts']): NamedContext {
  const found = contexts[name]
  if (found !== undefined) return { name, ...found }
  const names = Object.keys(contexts).sort()
  const others = names.length === 0 ? '' : `; there is ${names.join(', ')}`
  throw new CommandFailed(`there is no context ${JSON.stringify(name)}${others}`, EXIT.missing)
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(text, DEEPEST)?.value
  return isJsonObject(value) ? value : undefined
}

function isContext(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['url'] !== 'string') return false
  return ['ca', 'clientId'].every((name) => ['string', 'undefined'].includes(typeof value[name]))
}

function isSession(value: unknown): value is SavedSession {
  return attempt(() => readSavedSession(value)) !== undefined
}

function isCertificateFiles(value: unknown): value is CertificateFiles | undefined {
  if (value === undefined) return true
  if (!isJsonObject(value)) return false
  if (typeof value['identity'] === 'string') return true
  return typeof value['cert'] === 'string' && typeof value['key'] === 'string'
}

function unreadable(file: string): CommandFailed {
  return new CommandFailed(`${file} cannot be read; fix it, or delete it and log in again`)
}
