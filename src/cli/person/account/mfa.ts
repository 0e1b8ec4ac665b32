/** `latchkey mfa status`, `enable`, `disable` and `recovery-codes`: the user's own TOTP, without a browser. API 3.1. */
import { ApiRefused, type EdgeApi } from '../../api/edge-api.ts'
import { openApi, type SessionValues } from '../../api/open-api.ts'
import { CommandFailed, EXIT, type ExitCode, type Io } from '../../terminal/io.ts'
import { plain, printFields, printJson } from '../../terminal/output.ts'
import { askCode, showEnrollment } from '../ask-factors.ts'

const PATH = '/current-identity/mfa'
const RECOVERY_CODES = `${PATH}/recovery-codes`
/** As in a login: D-151. */
const MOST_ATTEMPTS = 3
const WRONG = 'MFA_INVALID_TOKEN'

export async function showMfa(values: SessionValues, io: Io): Promise<ExitCode> {
  const api = await openOwn(values, io)
  const isEnabled = await isVerified(api)
  const left = isEnabled ? (await api.get(RECOVERY_CODES))['left'] : undefined
  const recoveryCodes = typeof left === 'number' ? left : undefined
  if (values.json === true) return printJson(io, { isEnabled, recoveryCodes })
  printFields(io, [
    ['TOTP', isEnabled ? 'on' : 'off'],
    ['recovery codes left', recoveryCodes],
  ])
  return EXIT.ok
}

/** Only on a terminal: secret and recovery codes would otherwise end up in a file. */
export async function enableMfa(values: { readonly context?: string }, io: Io): Promise<ExitCode> {
  if (!io.isInteractive) {
    throw new CommandFailed('"mfa enable" shows a secret, and needs a terminal', EXIT.usage)
  }
  const api = await openOwn(values, io)
  const { provisioningUrl, recoveryCodes } = await api.send('POST', PATH, {})
  if (typeof provisioningUrl !== 'string' || !Array.isArray(recoveryCodes)) {
    throw new CommandFailed('the response does not come from Latchkey', EXIT.protocol)
  }
  try {
    const why = 'Scan this with an authenticator app:'
    showEnrollment(why, provisioningUrl, recoveryCodes.map(String), io)
    await verify(api, io)
  } catch (error) {
    // Removes the unconfirmed enrollment; if this fails, the next attempt replaces it.
    await api.send('DELETE', PATH, {}).catch(() => undefined)
    throw error
  }
  io.out('TOTP is on. From now on every login asks for a code.')
  return EXIT.ok
}

export async function disableMfa(values: SessionValues, io: Io): Promise<ExitCode> {
  const api = await openOwn(values, io)
  await api.send('DELETE', PATH, { code: await askOwnCode(api, io) })
  if (values.json === true) printJson(io, {})
  else io.out('TOTP is off, and the recovery codes are void.')
  return EXIT.ok
}

export async function renewRecoveryCodes(values: SessionValues, io: Io): Promise<ExitCode> {
  const api = await openOwn(values, io)
  const code = await askOwnCode(api, io)
  const { recoveryCodes } = await api.send('POST', RECOVERY_CODES, { code })
  const codes = Array.isArray(recoveryCodes) ? recoveryCodes.map(String) : []
  if (values.json === true) return printJson(io, { recoveryCodes: codes })
  for (const one of codes) io.out(plain(one))
  io.err('The old ones are void. Each works once in place of the app; keep them safe.')
  return EXIT.ok
}

const openOwn = (values: SessionValues, io: Io) => openApi(values, io, { which: 'client' })

async function isVerified(api: EdgeApi): Promise<boolean> {
  try {
    return (await api.get(PATH))['isVerified'] === true
  } catch (error) {
    if (error instanceof ApiRefused && error.code === 'MFA_ENROLLMENT_NOT_STARTED') return false
    throw error
  }
}

/** Do not ask for a code if there is no app. */
async function askOwnCode(api: EdgeApi, io: Io): Promise<string> {
  if (!(await isVerified(api))) {
    throw new CommandFailed('TOTP is off; "latchkey mfa enable" turns it on', EXIT.missing)
  }
  return askCode('Code from the app, or a recovery code: ', io)
}

async function verify(api: EdgeApi, io: Io): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const again = attempt === 1 ? 'First code of the app: ' : 'Wrong code. Try again: '
    const code = await askCode(again, io)
    try {
      await api.send('POST', `${PATH}/verify`, { code })
      return
    } catch (error) {
      const isWrong = error instanceof ApiRefused && error.code === WRONG
      if (!isWrong || attempt === MOST_ATTEMPTS) throw error
    }
  }
}
