/** The files of a certificate login: two in PEM, or one identity file from `latchkey enroll`. */
import { whyUnreadable } from '../../app/installation/file-faults.ts'
import { readText, refuseWorldReadable } from '../../app/installation/private-files.ts'
import { isText, parseJson } from '../../base/json.ts'
import type { ClientCertificate } from '../../client/client.ts'
import { CommandFailed, EXIT, type Io, Misuse } from '../terminal/io.ts'
import type { CertificateFiles } from './contexts.ts'

export interface IdentityFile extends ClientCertificate {
  readonly id: string
  readonly ca: string
  /** Missing if the file was written by hand, for a gateway. */
  readonly url?: string
}

const DEEPEST = 4

/** Throws RefusedStart if everyone can read the key; CommandFailed if a file is missing or not valid. */
export async function readCertificateFiles(files: CertificateFiles): Promise<ClientCertificate> {
  if ('identity' in files) {
    const { cert, key } = await readIdentityFile(files.identity)
    return { cert, key }
  }
  await refuseWorldReadable(files.key)
  return { cert: await textOf(files.cert), key: await textOf(files.key) }
}

export async function readIdentityFile(path: string): Promise<IdentityFile> {
  await refuseWorldReadable(path)
  const value = parseJson(await textOf(path), DEEPEST)?.value
  const { id, cert, key, ca, url } = (value ?? {}) as Readonly<Record<string, unknown>>
  if (!isText(id) || !isText(cert) || !isText(key) || !isText(ca)) {
    throw new CommandFailed(
      `${path} is not an identity file: JSON with the texts id, cert, key and ca`,
      EXIT.data,
    )
  }
  return { id, cert, key, ca, ...(isText(url) ? { url } : {}) }
}

/** `typed` is the path as the user typed it. Throws CommandFailed. */
export async function textOf(path: string, typed = path): Promise<string> {
  const text = await readText(path).catch((error: unknown) => {
    const why = whyUnreadable(error)
    if (why === undefined) throw error
    throw new CommandFailed(`${typed} cannot be read: ${why}`, EXIT.missing)
  })
  if (text === undefined) throw new CommandFailed(`there is no file ${typed}`, EXIT.missing)
  return text
}

/** Reads a JWT from a file, or asks for it. Throws Misuse if it is the argument itself, and does not repeat it. */
export async function jwtIn(
  file: string,
  question: string,
  io: Pick<Io, 'askSecret' | 'resolve'>,
): Promise<string> {
  if (file === '-') return (await io.askSecret(question)).trim()
  refuseJwt(file)
  return (await textOf(io.resolve(file), file)).trim()
}

/** Throws Misuse if what should be the name of a file is a JWT. */
export function refuseJwt(file: string): void {
  if (!LIKE_JWT.test(file)) return
  throw new Misuse(
    'a JWT must be in a file or on standard input (-), because other users of this machine can see arguments',
  )
}

/** The header of a JWT is JSON, and `{"` in base64url is `eyJ`. */
const LIKE_JWT = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/
