/** The login in a browser: always prints the address, and opens it if there is a display. RFC 8252. */
import { spawn } from 'node:child_process'
import type { BrowserLogin, Client, Session } from '../../client/client.ts'
import { readUserEnvironment } from '../../config/environment.ts'
import type { Io } from '../terminal/io.ts'
import { withProgress } from '../terminal/waiting.ts'

/** Whether the tokens are bound to a key (D-456). */
export type Binding = 'when-offered' | 'when-required'

export async function logInWithBrowser(
  client: Pick<Client, 'beginBrowserLogin'>,
  opens: 'a-window' | 'nothing',
  io: Io,
  dpop: Binding = 'when-required',
): Promise<Session> {
  const login = await client.beginBrowserLogin({ dpop })
  return finished(login, 'Waiting for the browser', io, () => {
    io.err('Log in with the browser of this machine, at this address:')
    io.err(`  ${login.url}`)
    if (opens === 'a-window') openWindow(login.url, io)
  })
}

/** Shows the user how to log in, and waits until it is done. */
export async function finished(
  login: Pick<BrowserLogin, 'finish' | 'cancel'>,
  what: string,
  io: Io,
  show: () => void,
): Promise<Session> {
  // This listens for Ctrl-C, so start it before anything is printed (D-190).
  const session = withProgress(io, what, login.finish())
  // The user may cancel before the promise is awaited.
  session.catch(() => undefined)
  try {
    show()
    return await session
  } finally {
    // This stops listening or polling, whether the login succeeded or not.
    login.cancel()
  }
}

/** Failures are ignored: the address is printed in any case. */
function openWindow(url: string, io: Pick<Io, 'variables'>): void {
  const opener = openerOf(process.platform, io)
  if (opener === undefined) return
  const [program, ...args] = opener
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}

function openerOf(
  platform: NodeJS.Platform,
  { variables }: Pick<Io, 'variables'>,
): readonly [string, ...string[]] | undefined {
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  // Without a display it would start a browser in this terminal.
  return readUserEnvironment(variables).hasDisplay ? ['xdg-open'] : undefined
}
