/** Blocking and unblocking identities: disable, enable, unlock, TOTP, sessions. API 3.3, R051. */
import { pathOf } from '../api/edge-api.ts'
import { openApi, type SessionValues } from '../api/open-api.ts'
import { EXIT, type ExitCode, type Io, Misuse } from '../terminal/io.ts'
import { plain, printJson } from '../terminal/output.ts'
import type { Row } from './entities/columns.ts'
import { type ConfirmedValues, confirm } from './entities/delete-entity.ts'
import { numberOf } from './entities/fields.ts'
import { findNamed, idOf } from './entities/names.ts'
import { resourceOf } from './entities/resources.ts'
import { titleOf } from './entities/write-entity.ts'

const IDENTITIES = resourceOf('identity')
const AUTHENTICATORS = resourceOf('authenticator')

export async function disableIdentity(
  name: string,
  values: SessionValues & { readonly minutes?: string },
  io: Io,
): Promise<ExitCode> {
  const { minutes } = values
  const durationMinutes = minutes === undefined ? 0 : numberOf('minutes', minutes)
  if (minutes !== undefined && durationMinutes === 0) {
    throw new Misuse(
      '--minutes must be 1 or more; without it, the identity stays disabled until it is enabled',
    )
  }
  const { api, identity } = await openIdentity(name, values, io)
  await api.send('POST', pathOf(IDENTITIES.path, idOf(identity), 'disable'), { durationMinutes })
  const until = minutes === undefined ? 'until it is enabled' : `for ${durationMinutes} minutes`
  return said(identity, `is disabled ${until}; its sessions have ended`, values, io)
}

export async function enableIdentity(
  name: string,
  values: SessionValues,
  io: Io,
): Promise<ExitCode> {
  const { api, identity } = await openIdentity(name, values, io)
  await api.send('POST', pathOf(IDENTITIES.path, idOf(identity), 'enable'), {})
  return said(identity, 'is enabled', values, io)
}

/** By username, by the id of the authenticator, or by the identity. */
export async function unlock(name: string, values: SessionValues, io: Io): Promise<ExitCode> {
  const api = await openApi(values, io)
  const password = await findNamed(api, AUTHENTICATORS, name, 'method = "updb"')
  await api.send('POST', pathOf(AUTHENTICATORS.path, idOf(password), 'unlock'), {})
  if (values.json === true) printJson(io, { id: idOf(password) })
  else io.out(plain(`The password of ${titleOf(password)} is unlocked.`))
  return EXIT.ok
}

export async function removeMfa(name: string, values: ConfirmedValues, io: Io): Promise<ExitCode> {
  const { api, identity } = await openIdentity(name, values, io)
  await confirm(plain(`Remove the TOTP of ${titleOf(identity)}?`), values, io)
  await api.send('DELETE', pathOf(IDENTITIES.path, idOf(identity), 'mfa'))
  return said(identity, 'no longer has TOTP', values, io)
}

export async function endSessions(
  values: ConfirmedValues & { readonly identity?: string; readonly everybody?: boolean },
  io: Io,
): Promise<ExitCode> {
  const { identity: name, everybody } = values
  if ((name === undefined) !== (everybody === true)) {
    throw new Misuse('"sessions end-all" needs either --identity or --everybody')
  }
  if (name === undefined) {
    const api = await openApi(values, io)
    await confirm('End the sessions of all identities, including your own?', values, io)
    await api.send('POST', '/api-sessions/end-all', { confirm: true })
    if (values.json === true) printJson(io, {})
    else io.out('All sessions have ended. Log in again.')
    return EXIT.ok
  }
  const { api, identity } = await openIdentity(name, values, io)
  await confirm(plain(`End all sessions of ${titleOf(identity)}?`), values, io)
  await api.send('DELETE', pathOf(IDENTITIES.path, idOf(identity), 'api-sessions'))
  return said(identity, 'no longer has a session', values, io)
}

async function openIdentity(name: string, values: SessionValues, io: Io) {
  const api = await openApi(values, io)
  return { api, identity: await findNamed(api, IDENTITIES, name) }
}

function said(identity: Row, what: string, { json }: SessionValues, io: Io): ExitCode {
  if (json === true) printJson(io, { id: idOf(identity) })
  else io.out(plain(`The identity ${titleOf(identity)} ${what}.`))
  return EXIT.ok
}
