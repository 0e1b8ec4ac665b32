/**
 * Devices that are known for an identity: D-216, R080 (OWASP "Device Cookies"). An attacker who guesses at a name must
 * not lock its owner out. So the guesses of others do not count on a device that has authenticated as the identity
 * before: one that holds a session certificate or a refresh token of a live session, or the cookie of an earlier
 * sign-in with the password.
 *
 * A known device still needs the password. It only gets its own count of failures.
 */
import { base64url, fromUtf8, utf8 } from '../../../base/encoding.ts'
import type { ApiSessionId, AuthenticatorId, IdentityId } from '../../../base/ids.ts'
import type { Secret } from '../../../base/secrets/secret.ts'
import type { Vault } from '../../../base/secrets/vault.ts'
import { type Instant, plus } from '../../../base/time/instant.ts'
import { type UpdbAuthenticator, usernameKey } from '../../identities/authenticator.ts'
import type { FactorPorts } from '../ports.ts'
import { refreshTokenHash } from '../refresh-token.ts'
import { DEVICE_LIFE } from './lock-rule.ts'

/** What a caller presents in addition to the password. */
export interface ShownDevice {
  /** The value that `rememberDevice` returned earlier. */
  readonly cookie?: string | undefined
  /** SHA-256 of the client certificate of the connection. */
  readonly certificate?: string | undefined
  readonly refreshToken?: Secret | undefined
  /** The session of the call, if there is one; it is already authenticated. */
  readonly session?: { readonly id: ApiSessionId; readonly identityId: IdentityId } | undefined
}

/** The most identities for which one browser is known; the one with the oldest sign-in is removed first. */
const MOST_ENTRIES = 5
/** Far longer than any entry that this service seals; longer ones are not decrypted. */
const LONGEST_ENTRY = 512
const DEVICE_BYTES = 16

/** One sign-in that the cookie remembers. */
interface Entry {
  readonly device: string
  readonly authenticatorId: AuthenticatorId
  /** D-122: a change of the password makes the entry void. */
  readonly version: number
  readonly expiresAt: Instant
}

type SessionPorts = Pick<
  FactorPorts,
  'vault' | 'clock' | 'apiSessions' | 'refreshTokens' | 'sessionCertificates'
>

/** Returns the device that is known for the identity of this name and has not itself guessed too often. */
export async function recognizeDevice(
  ports: SessionPorts & Pick<FactorPorts, 'authenticators' | 'passwordFailures'>,
  shown: ShownDevice,
  username: string,
): Promise<string | undefined> {
  const entries = read(ports, shown.cookie).map(({ entry }) => entry)
  const sessions = await sessionsOf(ports, shown)
  if (entries.length === 0 && sessions.length === 0) return undefined
  const password = await ports.authenticators.findUpdb(usernameKey(username))
  if (password === undefined) return undefined
  const { id, identityId, credentialVersion } = password
  const devices = [
    ...sessions.filter((one) => one.identityId === identityId).map((one) => `session ${one.id}`),
    ...entries
      .filter((one) => one.authenticatorId === id && one.version === credentialVersion)
      .map((one) => one.device),
  ]
  for (const device of devices) {
    if (await ports.passwordFailures.isTrusted(id, device)) return device
  }
  return undefined
}

/** After a correct password: returns the new value of the cookie, which keeps its entries for other identities. */
export function rememberDevice(
  ports: Pick<FactorPorts, 'vault' | 'random' | 'clock'>,
  { cookie }: ShownDevice,
  {
    id: authenticatorId,
    credentialVersion: version,
  }: Pick<UpdbAuthenticator, 'id' | 'credentialVersion'>,
): string {
  const { vault, random, clock } = ports
  const others = read(ports, cookie).filter(
    ({ entry }) => entry.authenticatorId !== authenticatorId,
  )
  const entry: Entry = {
    device: base64url(random.bytes(DEVICE_BYTES)),
    authenticatorId,
    version,
    expiresAt: plus(clock.now(), DEVICE_LIFE),
  }
  const fresh = vault.seal('known-device', utf8(JSON.stringify(entry)))
  return [fresh, ...others.map(({ sealed }) => sealed)].slice(0, MOST_ENTRIES).join('.')
}

/** Returns the live sessions whose credentials the caller holds. */
async function sessionsOf(
  ports: SessionPorts,
  { certificate, refreshToken, session }: ShownDevice,
) {
  const now = ports.clock.now()
  const named: ApiSessionId[] = []
  if (certificate !== undefined) {
    const issued = await ports.sessionCertificates.findByFingerprint(certificate)
    if (issued !== undefined && issued.validTo > now) named.push(issued.sessionId)
  }
  if (refreshToken !== undefined) {
    const token = await ports.refreshTokens.find(refreshTokenHash(ports.vault, refreshToken))
    // A spent refresh token may have been stolen.
    const isGood = token !== undefined && token.spent === undefined && token.expiresAt > now
    if (isGood) named.push(token.sessionId)
  }
  const live = session === undefined ? [] : [session]
  for (const id of named) {
    const session = await ports.apiSessions.find(id)
    if (session !== undefined && session.expiresAt > now) live.push(session)
  }
  return live
}

function read(
  { vault, clock }: Pick<FactorPorts, 'vault' | 'clock'>,
  cookie = '',
): readonly { readonly sealed: string; readonly entry: Entry }[] {
  const now = clock.now()
  return cookie
    .split('.', MOST_ENTRIES)
    .filter((sealed) => sealed.length > 0 && sealed.length <= LONGEST_ENTRY)
    .flatMap((sealed) => {
      const entry = open(vault, sealed)
      return entry !== undefined && entry.expiresAt > now ? [{ sealed, entry }] : []
    })
}

/** This service sealed the content, so its shape needs no check. */
function open(vault: Vault, sealed: string): Entry | undefined {
  const bytes = vault.open('known-device', sealed)
  const text = bytes && fromUtf8(bytes)
  return text === undefined ? undefined : (JSON.parse(text) as Entry)
}
