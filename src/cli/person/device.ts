/** The login on a machine without a browser: prints an address, a code and a QR code, and waits. RFC 8628. */
import { stripVTControlCharacters } from 'node:util'
import type { Client, Session } from '../../client/client.ts'
import { readUserEnvironment } from '../../config/environment.ts'
import { qrCodeLines } from '../../web/login/qr-code.ts'
import type { Io } from '../terminal/io.ts'
import { type Binding, finished } from './browser.ts'

/** Whether a browser of this machine could come back to this program. */
export function hasBrowser(
  { variables }: Pick<Io, 'variables'>,
  platform: NodeJS.Platform = process.platform,
): boolean {
  const { hasDisplay, isRemote } = readUserEnvironment(variables)
  return platform === 'darwin' || platform === 'win32' ? !isRemote : hasDisplay
}

const minutesOf = (seconds: number) =>
  seconds < 120 ? `${Math.round(seconds)} seconds` : `${Math.round(seconds / 60)} minutes`

export async function logInOnDevice(
  client: Pick<Client, 'beginDeviceLogin'>,
  io: Io,
  dpop: Binding = 'when-required',
): Promise<Session> {
  const login = await client.beginDeviceLogin({ dpop })
  return finished(login, 'Waiting for your approval', io, () => {
    io.err('On a phone or computer with a browser, open this address:')
    io.err(`  ${login.verificationUri}`)
    io.err(`and enter this code, within ${minutesOf(login.expiresInSeconds)}:`)
    io.err(`  ${login.userCode}`)
    const lines = qrCodeLines(login.verificationUriComplete) ?? []
    const width = stripVTControlCharacters(lines[0] ?? '').length
    if (width > 0 && width <= (io.columns ?? 0)) {
      io.err('Or scan this QR code, and compare the code:')
      for (const line of lines) io.err(line)
    }
  })
}
