/** oauth2-proxy in front of an application that says who it was told the user is. The options are those of docs/clients.md. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../eventually.ts'
import { freePort, listenUntilEnd } from '../ports.ts'

const COOKIE_REFRESH_SECONDS = 1

export async function startProxy(
  t: TestContext,
  program: string,
  given: { readonly issuer: string; readonly clientId: string; readonly caFile: string },
) {
  const application = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ name: request.headers['x-forwarded-preferred-username'] }))
  })
  const upstream = `http://127.0.0.1:${await listenUntilEnd(t, application)}`
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const options = {
    provider: 'oidc',
    'oidc-issuer-url': given.issuer,
    'provider-ca-file': given.caFile,
    'client-id': given.clientId,
    'client-secret-file': '/dev/null',
    'code-challenge-method': 'S256',
    'oidc-email-claim': 'preferred_username',
    scope: 'openid offline_access',
    'email-domain': '*',
    'redirect-url': `${url}/oauth2/callback`,
    'http-address': `127.0.0.1:${port}`,
    upstream,
    'skip-provider-button': 'true',
    'cookie-secret': randomBytes(32).toString('base64url'),
    'cookie-secure': 'false',
    'cookie-refresh': `${COOKIE_REFRESH_SECONDS}s`,
  }
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  }
  await eventually(async () => {
    assert.equal(child.exitCode, null, log)
    const reply = await fetch(`${url}/ping`).catch(() => undefined)
    return reply?.status === 200 ? true : undefined
  }, 'oauth2-proxy answers')
  return {
    url,
    log: () => log,
    // It measures the age of its session in whole seconds.
    untilRefreshIsDue: () => sleep((COOKIE_REFRESH_SECONDS + 1.2) * 1_000),
  }
}
