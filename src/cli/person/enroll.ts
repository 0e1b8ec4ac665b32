/**
 * `latchkey enroll`: exchanges the JWT of an invitation for a credential. The JWT says which one: an identity file with
 * a certificate, a password that the user types, or an existing certificate of a CA. D-126, D-127, D-131.
 */
import { shellWord } from '../../base/shell-word.ts'
import { instant, toRfc3339 } from '../../base/time/instant.ts'
import {
  type Enrolled,
  type EnrolledCertificate,
  type EnrollOptions,
  enroll,
  type Invitation,
  readInvitation,
  ServerUnavailable,
} from '../../client/client.ts'
import { jwtIn, readCertificateFiles } from '../contexts/certificate-files.ts'
import type { Run } from '../table/command.ts'
import { CommandFailed, EXIT, type ExitCode, type Io, Misuse } from '../terminal/io.ts'
import { plain, printFields, printJson } from '../terminal/output.ts'
import { withProgress } from '../terminal/waiting.ts'
import { askingPassword } from './ask-password.ts'
import { takePlace } from './identity-file.ts'
import { readCa, rootFingerprint } from './server-trust.ts'

export interface EnrollValues {
  readonly out?: string
  readonly username?: string
  readonly cert?: string
  readonly key?: string
  readonly ca?: string
  readonly json?: boolean
}

export const enrollIdentity: Run<EnrollValues> = async (values, io, [token = '-']) => {
  const ca = await readCa(values.ca, io)
  const jwt = await jwtIn(token, 'Token (JWT): ', io)
  const invitation = await asDataError(() => readInvitation(jwt))
  refuseForeignOptions(invitation, values)
  const options = { ca, ...(await optionsFor(invitation, values, io)) }
  const place = values.out === undefined ? undefined : await takePlace(io.resolve(values.out))
  const work = withProgress(io, 'Enrolling', spend(jwt, options))
  const enrolled = await work.catch(async (error: unknown) => {
    await place?.giveUp()
    throw error
  })
  if (enrolled.method !== 'updb') await place?.keep(enrolled)
  return report(enrolled, values, io)
}

/** The options of a method in addition to `--ca` and `--json`. The first ones are required. */
const TAKES = {
  ott: { what: 'a certificate', needs: ['out'], may: [] },
  updb: { what: 'a password', needs: [], may: ['username'] },
  ottca: { what: 'a certificate that you have', needs: ['cert', 'key'], may: ['out'] },
  ca: { what: 'a certificate that you have', needs: ['cert', 'key'], may: ['out'] },
} as const satisfies Record<Invitation['method'], unknown>

/** Checked before anything is asked or sent. */
function refuseForeignOptions({ method }: Invitation, values: EnrollValues): void {
  const { what, needs, may } = TAKES[method]
  const taken: readonly string[] = [...needs, ...may]
  for (const name of needs) {
    if (values[name] === undefined) {
      throw new Misuse(`"enroll" needs --${name}: this enrollment is one with ${what}`)
    }
  }
  for (const name of ['out', 'username', 'cert', 'key'] as const) {
    if (values[name] !== undefined && !taken.includes(name)) {
      throw new Misuse(`this enrollment is one with ${what}, which takes no --${name}`)
    }
  }
}

async function optionsFor(
  { method, url }: Invitation,
  values: EnrollValues,
  io: Io,
): Promise<EnrollOptions> {
  if (method === 'updb') return { newPassword: askingPassword(url, values.username, io) }
  const { cert, key } = values
  if (cert === undefined || key === undefined) return {}
  return {
    certificate: await readCertificateFiles({ cert: io.resolve(cert), key: io.resolve(key) }),
  }
}

async function spend(jwt: string, options: EnrollOptions): Promise<Enrolled> {
  try {
    return await asDataError(() => enroll(jwt, options))
  } catch (error) {
    if (!(error instanceof ServerUnavailable) || !error.mayHaveHappened) throw error
    const remedy = 'try again; if the enrollment is then reported as used, '
    const next =
      options.newPassword === undefined ? 'ask for a new one' : 'log in with the password you chose'
    throw new CommandFailed(`${error.message}; ${remedy}${next}`, EXIT.unavailable)
  }
}

/** A TypeError of the library is about the text of the JWT or about the files; it quotes neither. */
async function asDataError<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TypeError) throw new CommandFailed(error.message, EXIT.data)
    throw error
  }
}

function report(enrolled: Enrolled, values: EnrollValues, io: Io): ExitCode {
  const { identityId: id, url, method } = enrolled
  const about =
    method === 'updb'
      ? { username: enrolled.credential.username }
      : {
          ...(values.out === undefined ? {} : { file: io.resolve(values.out) }),
          validTo: validTo(enrolled),
        }
  if (values.json === true) return printJson(io, { id, url, ...about })
  printFields(io, [
    ['identity', id],
    ['server', url],
    ...Object.entries(about).map(([name, value]) => [TITLES[name] ?? name, value] as const),
  ])
  io.err(plain(`To log in: ${loginLine(enrolled, values)}`))
  return EXIT.ok
}

const TITLES: Readonly<Record<string, string>> = { validTo: 'valid until' }

const validTo = ({ validTo: end }: EnrolledCertificate) => toRfc3339(instant(end.getTime()))

/** The command to type next. It includes the CA that the JWT has proven, so that the user need not compare it again. */
function loginLine(enrolled: Enrolled, values: EnrollValues): string {
  if (values.out !== undefined) return `latchkey login --identity ${shellWord(values.out)}`
  const fingerprint = rootFingerprint(enrolled.ca)
  const trust =
    values.ca !== undefined
      ? ['--ca', values.ca]
      : fingerprint === undefined
        ? []
        : ['--ca-fingerprint', fingerprint]
  const way =
    enrolled.method === 'updb'
      ? ['--username', enrolled.credential.username]
      : ['--cert', values.cert ?? '', '--key', values.key ?? '']
  return ['latchkey', 'login', '--url', enrolled.url, ...trust, ...way].map(shellWord).join(' ')
}
