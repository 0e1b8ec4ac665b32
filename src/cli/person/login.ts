/**
 * `latchkey login`: by browser, on another device, by password, certificate or external JWT, into a context. Passwords, codes and JWTs are
 * typed or read from standard input, and are never arguments, because other users of the machine can see those.
 */
import type { Client, Credential, SavedSession, Session } from '../../client/client.ts'
import {
  jwtIn,
  readCertificateFiles,
  readIdentityFile,
  refuseJwt,
} from '../contexts/certificate-files.ts'
import {
  type CertificateFiles,
  type Context,
  type Contexts,
  checkContextName,
  type NamedContext,
  openContexts,
} from '../contexts/contexts.ts'
import { CommandFailed, EXIT, type ExitCode, type Io, Misuse } from '../terminal/io.ts'
import { plain } from '../terminal/output.ts'
import { withProgress } from '../terminal/waiting.ts'
import { askFactors } from './ask-factors.ts'
import { type Binding, logInWithBrowser } from './browser.ts'
import { hasBrowser, logInOnDevice } from './device.ts'
import { checkUrl, connectTrusted, readCa } from './server-trust.ts'

export interface LoginValues {
  readonly url?: string
  readonly ca?: string
  readonly 'ca-fingerprint'?: string
  readonly 'client-id'?: string
  readonly username?: string
  readonly cert?: string
  readonly key?: string
  readonly 'ext-jwt'?: string
  readonly identity?: string
  readonly 'no-browser'?: boolean
  readonly bind?: boolean
  readonly device?: boolean
  readonly context?: string
}

const FIRST_CONTEXT = 'default'

export async function logIn(values: LoginValues, io: Io): Promise<ExitCode> {
  const way = readWay(values)
  const contexts = openContexts(io)
  const { current, contexts: known } = await contexts.list()
  const name = checkContextName(values.context ?? current ?? FIRST_CONTEXT)
  const before = known.find((one) => one.name === name)
  const wanted = await placeOf(values, name, before, io)
  const { client, place } = await connectTrusted(wanted, values['ca-fingerprint'], io)

  const certificate = certificateFilesOf(values, io)
  // D-456: `latchkey token` hands tokens to programs that have no key, so a session is bound only if it must be, or
  // if the user says so.
  const dpop = values.bind === true ? 'when-offered' : 'when-required'
  const logInHere = async () => {
    const credential = await credentialOf(values, certificate, io)
    return withProgress(io, 'Logging in', client.logIn(credential, { ...askFactors(io), dpop }))
  }
  const session = await (way === 'browser' ? logInElsewhere(client, values, io, dpop) : logInHere())
  try {
    await keep(contexts, { name, ...place }, session, certificate, client)
  } catch (error) {
    // Without its tokens, nothing could use or end the session until it expires.
    await session.logout().catch(() => undefined)
    throw error
  }

  const { preferred_username: username } = session.claims()
  const who = plain(typeof username === 'string' ? username : session.identityId)
  io.out(`Logged in as ${who} at ${place.url}, context ${name}.`)
  return EXIT.ok
}

/** On a machine without a browser, the user approves the login on another one (D-445). */
function logInElsewhere(
  client: Client,
  values: LoginValues,
  io: Io,
  dpop: Binding,
): Promise<Session> {
  if (values['no-browser'] === true) return logInWithBrowser(client, 'nothing', io, dpop)
  if (values.device === true || (client.offersDeviceLogin && !hasBrowser(io))) {
    return logInOnDevice(client, io, dpop)
  }
  return logInWithBrowser(client, 'a-window', io, dpop)
}

type Way = 'browser' | 'username' | 'cert' | 'ext-jwt' | 'identity'

function readWay(values: LoginValues): Way {
  const given = (['username', 'cert', 'ext-jwt', 'identity'] as const).filter(
    (name) => values[name] !== undefined,
  )
  const [way = 'browser', other] = given
  if (other !== undefined) throw new Misuse(`use either --${way} or --${other}`)
  refuseJwt(values['ext-jwt'] ?? '-')
  if ((values.cert === undefined) !== (values.key === undefined)) {
    throw new Misuse('--cert needs --key, and --key needs --cert')
  }
  if (way !== 'browser' && values['no-browser'] === true) {
    throw new Misuse(`--${way} never opens a browser`)
  }
  if (values.device === true && (way !== 'browser' || values['no-browser'] === true)) {
    const other = way === 'browser' ? 'no-browser' : way
    throw new Misuse(`use either --device or --${other}`)
  }
  if (values.ca !== undefined && values['ca-fingerprint'] !== undefined) {
    throw new Misuse('--ca and --ca-fingerprint cannot be combined')
  }
  return way
}

/** The options, or else the identity file, or else what the context knows about the same server. */
async function placeOf(
  values: LoginValues,
  context: string,
  before: NamedContext | undefined,
  io: Pick<Io, 'resolve'>,
): Promise<Context> {
  const file =
    values.identity === undefined ? undefined : await readIdentityFile(io.resolve(values.identity))
  const given = values.url ?? file?.url ?? before?.url
  if (given === undefined) {
    throw new Misuse(`--url is missing, and context "${context}" has no earlier login`)
  }
  const url = checkUrl(given)
  const sameServer = before?.url === url ? before : undefined
  const ca = (await readCa(values.ca, io)) ?? file?.ca ?? sameServer?.ca
  const clientId = values['client-id'] ?? sameServer?.clientId
  return { url, ca, clientId }
}

function certificateFilesOf(
  { cert, key, identity }: LoginValues,
  io: Pick<Io, 'resolve'>,
): CertificateFiles | undefined {
  if (identity !== undefined) return { identity: io.resolve(identity) }
  return cert === undefined || key === undefined
    ? undefined
    : { cert: io.resolve(cert), key: io.resolve(key) }
}

async function credentialOf(
  values: LoginValues,
  certificate: CertificateFiles | undefined,
  io: Io,
): Promise<Credential> {
  if (certificate !== undefined) {
    return { method: 'cert', ...(await readCertificateFiles(certificate)) }
  }
  const { username, 'ext-jwt': file = '-' } = values
  if (username !== undefined) {
    return { method: 'password', username, password: await io.askSecret('Password: ') }
  }
  const jwt = await jwtIn(file, 'JWT: ', io)
  // The text is not quoted: it may be a secret in the wrong place.
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt)) {
    throw new CommandFailed('the input of --ext-jwt contains no JWT', EXIT.data)
  }
  return { method: 'ext-jwt', jwt }
}

async function keep(
  contexts: Contexts,
  context: NamedContext,
  session: Session,
  certificate: CertificateFiles | undefined,
  client: Client,
): Promise<void> {
  await contexts.exclusively(context.name, async () => {
    const former = await contexts.credentials(context.name).catch(() => undefined)
    await contexts.keepCredentials(context.name, {
      session: session.save(),
      ...(certificate === undefined ? {} : { certificate }),
    })
    await contexts.put(context)
    if (former !== undefined) await endFormer(client, former.session)
  })
}

/** Ends the previous session, whose tokens are lost. If this fails, it expires by itself. */
async function endFormer(client: Client, former: SavedSession): Promise<void> {
  try {
    await client.restore(former).logout()
  } catch {
    // It probably belongs to another server.
  }
}
