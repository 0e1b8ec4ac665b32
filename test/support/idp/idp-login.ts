/**
 * A service with an IdP that people can be sent to, a browser that is on its way, and how its answers are refused. Every
 * browser keeps cookies and sends fetch metadata; it asks for JSON where a test reads codes.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import {
  type CookieBrowser,
  callbackPath,
  cookieBrowser,
  sentTo,
  startPath,
} from '../browser/cookie-browser.ts'
import { TestClock } from '../clocks/clock.ts'
import { eventually } from '../eventually.ts'
import type { Reply } from '../http-client.ts'
import { administrate, assertRefused } from '../management.ts'
import { startService } from '../service.ts'
import { primaryChallenge } from './jwt-login.ts'
import { startLoginIdp } from './login-idp.ts'

export const JSON_PLEASE = { headers: { accept: 'application/json' } }

interface Line {
  readonly msg: string
  readonly requestId?: string
}

/** The IdP is known as `Example`, and an identity as its `zoe`. */
export async function prepareIdpLogin(
  t: TestContext,
  config: Readonly<Record<string, unknown>> = {},
  clock = new TestClock(),
) {
  const service = await startService(t, { config, clock })
  const admin = await administrate(service)
  const idp = await startLoginIdp(t, service)
  const signer = await idp.register(admin, { name: 'Example' })
  await admin.createIdentity({ externalId: 'zoe' })

  /** A browser that has been sent to the IdP. */
  async function away(browser = cookieBrowser(service), at = signer) {
    const begun = await browser.begin()
    const location = sentTo(await browser.get(startPath(at, begun.authRequestId)))
    return { browser, begun, location }
  }
  const back = (browser: CookieBrowser, location: URL, answer: Readonly<Record<string, string>>) =>
    browser.get(callbackPath(location, answer), JSON_PLEASE)

  /** What the log says about a refusal; the line is written when the answer has left. */
  async function reasonOf(reply: Reply): Promise<string> {
    const id = reply.headers['x-request-id']
    const isIts = (line: Line) => line.msg === 'request' && line.requestId === id
    return (await eventually(() => service.log.find(isIts), 'the log line')).reason
  }

  /** To start again, for this reason. */
  async function assertStartAgain(reply: Reply, reason: string): Promise<void> {
    assertRefused(reply, 400, 'INVALID_AUTH_REQUEST')
    assert.equal(await reasonOf(reply), reason)
  }

  /** The token is not good, or there is none. */
  async function assertNoProof(reply: Reply, fault: 'missing' | 'invalid', reason: string) {
    assertRefused(reply, 401, 'UNAUTHORIZED')
    const challenge = primaryChallenge(fault, { id: signer, issuer: idp.issuer })
    assert.equal(reply.headers['www-authenticate'], challenge)
    assert.equal(await reasonOf(reply), reason)
  }

  return { service, admin, idp, signer, away, back, reasonOf, assertStartAgain, assertNoProof }
}
