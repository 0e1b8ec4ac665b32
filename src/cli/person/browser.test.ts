/** Ctrl-C during a login with a browser: D-190. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemRandom } from '../../base/secrets/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { beginBrowserLogin } from '../../client/login/browser.ts'
import type { Provider } from '../../client/wire/provider.ts'
import { createInterrupts } from '../terminal/interrupts.ts'
import { CommandFailed, EXIT, type Io } from '../terminal/io.ts'
import { logInWithBrowser } from './browser.ts'

const at = (path: string) => new URL(path, 'https://localhost:1280')
const PROVIDER: Provider = {
  issuer: 'https://localhost:1280/oidc',
  authorization: at('/oidc/authorization'),
  token: at('/oidc/oauth/token'),
  keys: at('/oidc/keys'),
  endSession: at('/oidc/end_session'),
  namesIssuer: true,
  bindsTokens: true,
  loginUrl: (path) => at(`/oidc/login/${path}`),
}

/** A listener that waits for a browser, as the command opens it, and a way to see that it is closed. */
function waitingClient() {
  const opened: string[] = []
  return {
    redirectUri: () => new URL(opened[0] ?? '').searchParams.get('redirect_uri') ?? '',
    async beginBrowserLogin() {
      const deps = { provider: PROVIDER, clientId: 'cli', random: systemRandom }
      const login = await beginBrowserLogin(deps, {}, () => assert.fail('there is no code'))
      opened.push(login.url)
      return login
    },
  }
}

/** A user who presses Ctrl-C at the moment when the first line that `isSeen` accepts is printed. */
function pressingAt(isSeen: (line: string) => boolean): Io {
  const interrupts = createInterrupts(systemClock, () =>
    assert.fail('the interrupt came before its handler'),
  )
  const react = (line: string) => {
    if (!interrupts.hasCome && isSeen(line)) interrupts.interrupt()
  }
  return {
    out: react,
    err: react,
    progress: (text) => react(text ?? ''),
    isTerminal: true,
    columns: 80,
    hasColour: false,
    isInteractive: true,
    ask: () => assert.fail('nothing is asked'),
    askSecret: () => assert.fail('nothing is asked'),
    onInterrupt: interrupts.on,
    variables: {},
    resolve: () => assert.fail('no file is read'),
    errorStream: { write: () => assert.fail('only lines are printed') },
    get bytes() {
      return assert.fail()
    },
    get input() {
      return assert.fail('nothing is read')
    },
  }
}

for (const [title, isSeen] of [
  ['the first line', () => true],
  ['the address', (line: string) => line.includes('/oidc/authorization?')],
  ['the word that it is waiting', (line: string) => line.startsWith('Waiting for the browser')],
] as const) {
  test(`Ctrl-C at the moment when ${title} is printed cancels the login with exit code 130`, async () => {
    const client = waitingClient()
    const login = logInWithBrowser(client, 'nothing', pressingAt(isSeen))
    await assert.rejects(login, new CommandFailed('given up', EXIT.cancelled))
    await assert.rejects(fetch(client.redirectUri()), 'the listener is closed')
  })
}
