/** Blocking and unblocking identities: disable, enable, unlock, TOTP, sessions. API 3.3, R051. */
import { pathOf } from '../api/edge-api.ts'
import { openAnonymous } from '../api/open-anonymous.ts'
import { openApi, type SessionValues } from '../api/open-api.ts'
import type { Run } from '../table/command.ts'
import { EXIT, type ExitCode, type Io, Misuse } from '../terminal/io.ts'
import { plain, printJson } from '../terminal/output.ts'
import type { Row } from './entities/columns.ts'
import { type ConfirmedValues, confirm, forEach } from './entities/delete-entity.ts'
import { numberOf } from './entities/fields.ts'
import { printRows } from './entities/list-entities.ts'
import { findAllNamed, findNamed, idOf } from './entities/names.ts'
import { resourceOf } from './entities/resources.ts'
import { titleOf } from './entities/write-entity.ts'
import { askWithoutSession, secondsOf, type WaitValues } from './sessions/confirmations.ts'

const IDENTITIES = resourceOf('identity')
const AUTHENTICATORS = resourceOf('authenticator')

export async function disableIdentities(
  values: SessionValues & WaitValues & { readonly minutes?: string },
  io: Io,
  names: readonly string[],
): Promise<ExitCode> {
  const { minutes } = values
  secondsOf(values)
  const durationMinutes = minutes === undefined ? 0 : numberOf('minutes', minutes)
  if (minutes !== undefined && durationMinutes === 0) {
    throw new Misuse(
      '--minutes must be 1 or more; without it, the identity stays disabled until it is enabled',
    )
  }
  const until = minutes === undefined ? 'until it is enabled' : `for ${durationMinutes} minutes`
  const { api, identities } = await openIdentities(names, values, io)
  return forEach(api, identities, values, io, async (identity) => {
    const path = pathOf(IDENTITIES.path, idOf(identity), 'disable')
    await api.send('POST', path, { durationMinutes })
    return sentence(identity, `is disabled ${until}; its sessions have ended`)
  })
}

export const enableIdentities: Run<SessionValues> = async (values, io, names) => {
  const { api, identities } = await openIdentities(names, values, io)
  return forEach(api, identities, values, io, async (identity) => {
    await api.send('POST', pathOf(IDENTITIES.path, idOf(identity), 'enable'), {})
    return sentence(identity, 'is enabled')
  })
}

/** By username, by the id of the authenticator, or by the identity. */
export const unlock: Run<SessionValues> = async (values, io, names) => {
  const api = await openApi(values, io)
  const passwords: Row[] = []
  for (const name of names) {
    passwords.push(await findNamed(api, AUTHENTICATORS, name, 'method = "updb"'))
  }
  return forEach(api, passwords, values, io, async (password) => {
    await api.send('POST', pathOf(AUTHENTICATORS.path, idOf(password), 'unlock'), {})
    return plain(`The password of ${titleOf(password)} is unlocked.`)
  })
}

export const removeMfa: Run<ConfirmedValues> = async (values, io, names) => {
  const { api, identities } = await openIdentities(names, values, io)
  const titles = identities.map(titleOf).join(', ')
  await confirm(plain(`Remove the second factors of ${titles}?`), values, io)
  return forEach(api, identities, values, io, async (identity) => {
    await api.send('DELETE', pathOf(IDENTITIES.path, idOf(identity), 'mfa'))
    return sentence(identity, 'no longer has a second factor')
  })
}

export const listPasskeys: Run<SessionValues> = async (values, io, [name = '']) => {
  const { api, identities } = await openIdentities([name], values, io)
  for (const identity of identities) {
    const { rows } = await api.list(pathOf(IDENTITIES.path, idOf(identity), 'passkeys'))
    if (values.json === true) printJson(io, rows)
    else if (rows.length === 0) io.out(sentence(identity, 'has no passkeys'))
    else printRows(io, rows, PASSKEY_COLUMNS)
  }
  return EXIT.ok
}

const PASSKEY_COLUMNS = [
  { title: 'ID', path: 'id' },
  { title: 'NAME', path: 'name' },
  { title: 'HOST', path: 'rpId' },
  { title: 'CREATED', path: 'createdAt', as: 'time' },
  { title: 'LAST USED', path: 'lastUsedAt', as: 'time' },
] as const

export const removePasskey: Run<ConfirmedValues> = async (values, io, [name = '', id = '']) => {
  const { api, identities } = await openIdentities([name], values, io)
  await confirm(plain(`Remove the passkey ${id} of ${identities.map(titleOf).join()}?`), values, io)
  return forEach(api, identities, values, io, async (identity) => {
    await api.send('DELETE', pathOf(pathOf(IDENTITIES.path, idOf(identity), 'passkeys'), id))
    return sentence(
      identity,
      `no longer has the passkey ${id}; the sessions that it began have ended`,
    )
  })
}

export async function endSessions(
  values: ConfirmedValues & { readonly identity?: string; readonly everybody?: boolean },
  io: Io,
): Promise<ExitCode> {
  const { identity: name, everybody } = values
  if ((name === undefined) !== (everybody === true)) {
    throw new Misuse('"sessions end-all" needs either --identity or --everybody')
  }
  if (name === undefined) return endEverySession(values, io)
  const { api, identities } = await openIdentities([name], values, io)
  await confirm(plain(`End all sessions of ${identities.map(titleOf).join()}?`), values, io)
  return forEach(api, identities, values, io, async (identity) => {
    await api.send('DELETE', pathOf(IDENTITIES.path, idOf(identity), 'api-sessions'))
    return sentence(identity, 'no longer has a session')
  })
}

/** A session takes up to a millisecond, and the response is about all of them. */
const ENDING_MILLISECONDS = 30 * 60_000

/** The session of the caller ends too, so the confirmations are asked for without it. */
async function endEverySession(values: ConfirmedValues, io: Io): Promise<ExitCode> {
  const seconds = secondsOf(values)
  const api = await openApi(values, io, { timeoutMilliseconds: ENDING_MILLISECONDS })
  const anonymous = await openAnonymous(values, io)
  await confirm('End the sessions of all identities, including your own?', values, io)
  await api.send('POST', '/api-sessions/end-all', { confirm: true })
  if (values.json !== true) io.out('All sessions have ended. Log in again.')
  const proof =
    seconds === undefined
      ? undefined
      : await askWithoutSession(anonymous, api.takeEnding(), seconds)
  if (values.json === true) {
    printJson(io, proof === undefined ? {} : { confirmations: proof.confirmations })
  } else for (const line of proof?.lines ?? []) io.out(line)
  return proof === undefined || proof.isConfirmed ? EXIT.ok : EXIT.unconfirmed
}

async function openIdentities(names: readonly string[], values: SessionValues, io: Io) {
  const api = await openApi(values, io)
  return { api, identities: await findAllNamed(api, IDENTITIES, names) }
}

function sentence(identity: Row, what: string): string {
  return plain(`The identity ${titleOf(identity)} ${what}.`)
}
