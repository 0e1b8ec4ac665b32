/**
 * `latchkey gateway --enroll FILE`: makes the home of a gateway. The settings are checked, also whether their addresses
 * are free, and written before the token is spent; the identity is written as one file, so that a home has all of it or
 * none. D-390, D-391, D-393.
 */
import { unlink } from 'node:fs/promises'
import {
  createPrivateFile,
  exists,
  makePrivateFolder,
  RefusedStart,
  readText,
} from '../../app/installation/private-files.ts'
import { refuseTakenPlaces } from '../../app/listen-places.ts'
import { parseJson } from '../../base/json.ts'
import { attempt } from '../../base/node/attempt.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { shellWord } from '../../base/shell-word.ts'
import {
  ClientError,
  type EnrolledCertificate,
  enroll,
  Refused,
  readInvitation,
  ServerUnavailable,
} from '../../client/client.ts'
import { type GivenSettings, loadGatewaySettings } from '../../gateway/settings/load.ts'
import type { GatewaySettings } from '../../gateway/settings/settings.ts'
import { jwtIn } from '../contexts/certificate-files.ts'
import { CommandFailed, EXIT, type Io, Misuse } from '../terminal/io.ts'
import { plain } from '../terminal/output.ts'
import type { GatewayValues } from './given.ts'
import { homeOf } from './home.ts'
import { writeStored } from './identity.ts'
import { addressesOf, explainTaken, type SettingsSource } from './taken-address.ts'

const random = systemRandom

/** Throws Misuse, CommandFailed, ConfigProblems, RefusedStart, ClientError. */
export async function enrollGateway(
  values: GatewayValues,
  given: GivenSettings,
  io: Pick<Io, 'resolve' | 'askSecret' | 'out'>,
  variable: (name: string) => string | undefined,
): Promise<void> {
  const { enroll: token = '-' } = values
  const home = homeOf(values, io)
  const jwt = await jwtIn(token, 'Token (JWT): ', io)
  const { url, identityId } = invitationOf(jwt, token)
  await refuseOther(home, identityId)
  await makePrivateFolder(home.folder)
  const chosen = { ...given, controller: url }
  const { settings, isNew } = await checkSettings(home, chosen, variable)
  await refuseTaken({ settings, given, file: home.file })
  const isCreated = isNew && (await createPrivateFile(home.file, settingsText(chosen), { random }))
  const enrolled = await spend(jwt).catch(async (error: unknown) => {
    if (isCreated) await unlink(home.file)
    throw error
  })
  const { identityId: id, ca, credential } = enrolled
  const { cert, key } = credential
  await writeStored(home.identity, { id, url, ca, cert, key })
  io.out(plain(`The gateway is enrolled at ${url}. Its home is ${home.folder}`))
}

/** The token says where to enroll, and by which method. Nothing is sent yet. */
function invitationOf(jwt: string, file: string) {
  const invitation = attempt(() => readInvitation(jwt))
  const remedy = 'make one with "latchkey create router"'
  if (invitation === undefined) {
    throw new CommandFailed(`${file} is not an enrollment token; ${remedy}`, EXIT.data)
  }
  if (invitation.method !== 'ott') {
    const problem =
      'is a token for a password or for a certificate of another CA, not for a gateway'
    throw new CommandFailed(`${file} ${problem}; ${remedy}`, EXIT.data)
  }
  return { url: invitation.url, identityId: invitation.identityId }
}

/** A home keeps its identity, unless the token is another one of the same router (`latchkey re-enroll`). */
async function refuseOther(
  home: ReturnType<typeof homeOf>,
  identityId: string | undefined,
): Promise<void> {
  const text = await readText(home.identity)
  if (text === undefined) return
  const before = parseJson(text, 4)?.value as { readonly id?: unknown } | undefined
  if (before?.id === identityId) return
  throw new CommandFailed(
    `${home.folder} is the home of another gateway. To start that one: latchkey gateway --home ` +
      `${shellWord(home.folder)}. For a new one, choose another --home`,
    EXIT.conflict,
  )
}

/** Returns the settings, and whether their file is still missing. An existing file is used as it is. */
async function checkSettings(
  home: ReturnType<typeof homeOf>,
  given: GivenSettings & { readonly controller: string },
  variable: (name: string) => string | undefined,
): Promise<{ readonly settings: GatewaySettings; readonly isNew: boolean }> {
  const from = { home: home.folder, variable }
  if (await exists(home.file)) {
    const { controller, ...options } = given
    const written = await loadGatewaySettings({ ...from, file: home.file, given: { controller } })
    const meant = await loadGatewaySettings({ ...from, file: home.file, given: { ...options } })
    if (JSON.stringify(written.settings) === JSON.stringify(meant.settings)) {
      return { settings: written.settings, isNew: false }
    }
    throw new CommandFailed(
      `${home.file} exists and says something else; leave out --listen and --upstream and enroll at its ` +
        'controller, or remove the file',
      EXIT.conflict,
    )
  }
  if (given.listen === undefined) throw new Misuse('--listen is missing')
  if (given.upstreams === undefined) throw new Misuse('--upstream is missing')
  const { settings } = await loadGatewaySettings({ ...from, file: undefined, given })
  return { settings, isNew: true }
}

/** A token works once, so a gateway that could not start afterwards must not spend it. */
async function refuseTaken(source: SettingsSource): Promise<void> {
  await refuseTakenPlaces(addressesOf(source.settings), 'gateway').catch((error: unknown) => {
    const explained = explainTaken(error, source)
    if (!(explained instanceof RefusedStart)) throw explained
    throw new RefusedStart(`${explained.message} The token was not used.`, { cause: error })
  })
}

/** JSON strings are YAML too, whatever is in them. */
function settingsText({ controller, listen, upstreams = [] }: GivenSettings): string {
  return [
    '# The settings of this gateway; docs/gateway.md lists every key. Changes are picked up while it runs.',
    'v: 1',
    `controller: ${JSON.stringify(controller)}`,
    `listen: ${JSON.stringify(listen)}`,
    'upstreams:',
    ...upstreams.flatMap(({ name, url }) => [
      ...(name === undefined ? [] : [`  - name: ${JSON.stringify(name)}`]),
      `  ${name === undefined ? '-' : ' '} url: ${JSON.stringify(url)}`,
    ]),
    '',
  ].join('\n')
}

async function spend(jwt: string): Promise<EnrolledCertificate> {
  try {
    return await enroll(jwt, { identityType: 'Router' })
  } catch (error) {
    const again = '"latchkey re-enroll NAME" makes another token for the same router'
    if (error instanceof Refused && error.code === 'ENROLLMENT_USED') {
      const sentence = `the token was already used, and works only once; if that enrollment was cut off, ${again}`
      throw new CommandFailed(`${sentence} (${error.code})`, EXIT.data)
    }
    if (error instanceof ClientError && error.code === 'ENROLLMENT_EXPIRED') {
      const sentence =
        'the token has expired; "latchkey create enrollment --identity NAME" makes another one for the same router'
      throw new CommandFailed(`${sentence} (${error.code})`, EXIT.data)
    }
    if (!(error instanceof ServerUnavailable) || !error.mayHaveHappened) throw error
    throw new CommandFailed(
      `${error.message}; try again, and if the token is then reported as used, ${again}`,
      EXIT.unavailable,
    )
  }
}
