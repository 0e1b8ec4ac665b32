/** The listener of a login in a browser: what ends it, and what must not keep the program running. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { systemRandom } from '../../base/secrets/random.ts'
import type { Provider } from '../wire/provider.ts'
import { type BrowserLoginOptions, beginBrowserLogin } from './browser.ts'

const SERVER = 'https://auth.example.com'
const provider: Provider = {
  issuer: `${SERVER}/oidc`,
  authorization: new URL('/oidc/authorization', SERVER),
  token: new URL('/oidc/token', SERVER),
  keys: new URL('/oidc/keys', SERVER),
  endSession: new URL('/oidc/end_session', SERVER),
  namesIssuer: true,
  bindsTokens: false,
  loginUrl: (path) => new URL(path, SERVER),
}

const begin = (options: BrowserLoginOptions = {}) =>
  beginBrowserLogin({ provider, clientId: 'service', random: systemRandom }, options, () =>
    assert.fail('there was no login'),
  )

const openSockets = () =>
  process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length

test('a connection that a browser keeps open does not keep the program running', async (t) => {
  const login = await begin()
  const { port } = new URL(new URL(login.url).searchParams.get('redirect_uri') ?? '')
  const before = openSockets()
  // Its own socket is not counted, only the other end.
  const unfinished = connect(Number(port), '127.0.0.1').unref()
  t.after(() => unfinished.destroy())
  await once(unfinished, 'connect')
  unfinished.write('GET /callback HTTP/1.1\r\n')
  // A whole request, answered after the other one has arrived.
  const whole = get({ host: '127.0.0.1', port, agent: false })
  const [answer] = await once(whole, 'response')
  await once(answer.resume(), 'close')
  whole.socket?.unref()

  login.cancel()
  await assert.rejects(login.finish(), { name: 'LoginCancelled', code: 'CANCELLED' })
  assert.equal(openSockets(), before)
})

test('a signal that aborts while the listener opens ends the login', async () => {
  const given = new AbortController()
  const beginning = begin({ signal: given.signal })
  const reason = new Error('enough')
  given.abort(reason)
  const login = await beginning
  await assert.rejects(login.finish(), reason)
})

test('a port that is taken is an error with a code', async (t) => {
  const first = await begin()
  t.after(() => first.cancel())
  const { port } = new URL(new URL(first.url).searchParams.get('redirect_uri') ?? '')
  await assert.rejects(begin({ port: Number(port) }), {
    name: 'ClientError',
    code: 'EADDRINUSE',
    message: `cannot listen on 127.0.0.1:${port} (EADDRINUSE)`,
  })
})
