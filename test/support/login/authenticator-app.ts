/**
 * Somebody with an authenticator app: an independent library computes the codes, from what the service hands out and
 * from the service's clock. And the steps of a login that come after the password.
 */
import assert from 'node:assert/strict'
import { TOTP, URI } from 'otpauth'
import { seconds } from '../../../src/base/time/duration.ts'
import type { TestClock } from '../clocks/clock.ts'
import type { Reply } from '../http-client.ts'
import type { Administrator, CreatedIdentity, NewIdentity } from '../management.ts'
import type { Service as RunningService } from '../service.ts'
import { CLIENT_API, type Credentials, callsOf, legacyToken } from './legacy.ts'
import { beginLogin, type Pkce, submitPassword } from './login.ts'

type Service = Pick<RunningService, 'baseUrl' | 'call' | 'clock'>

export const PASSWORD = 'a password of somebody'

export interface AuthenticatorApp {
  readonly provisioningUrl: string
  /** Of the present time step, or of one near it. */
  code(drift?: number): string
  /** Waits for the next step: a code that was never shown. */
  nextCode(): string
  /** Six digits that are the code of no step near this one, and no recovery code: those have no zero. */
  wrongCode(): string
}

const STEP = seconds(30)

export function authenticatorApp(provisioningUrl: string, clock: TestClock): AuthenticatorApp {
  const totp = URI.parse(provisioningUrl)
  assert.ok(totp instanceof TOTP)
  const code = (drift = 0) => totp.generate({ timestamp: clock.now() + drift * STEP })
  return {
    provisioningUrl,
    code,
    nextCode() {
      clock.advance(STEP)
      return code()
    },
    wrongCode() {
      const near = [-3, -2, -1, 0, 1, 2, 3].map(code)
      const wrong = ['000000', '010101', '909090', '080808', '101010', '990099', '111000', '188001']
      const chosen = wrong.find((candidate) => !near.includes(candidate))
      assert.ok(chosen !== undefined)
      return chosen
    },
  }
}

/** A policy that takes every primary method and then asks for a code. */
export function totpPolicy(admin: Administrator): Promise<string> {
  return admin.createPolicy({ secondary: { requireTotp: true } })
}

export interface EnrolledPerson extends CreatedIdentity {
  readonly app: AuthenticatorApp
  readonly recoveryCodes: readonly string[]
}

/** An identity with a password and an app that it has proven in a session of its own. */
export async function enrolledPerson(
  service: Service,
  admin: Administrator,
  identity: NewIdentity = {},
): Promise<EnrolledPerson> {
  const person = await admin.createIdentity({ password: PASSWORD, ...identity })
  return { ...person, ...(await setUpApp(service, person)) }
}

/** Sets an app up from a legacy session, which any policy lets begin. */
export async function setUpApp(
  service: Service,
  person: Credentials,
): Promise<Pick<EnrolledPerson, 'app' | 'recoveryCodes'>> {
  const call = callsOf(service, await legacyToken(service, person))
  const started = await call(`${CLIENT_API}/current-identity/mfa`, { method: 'POST' })
  assert.equal(started.status, 201, started.text)
  const { provisioningUrl, recoveryCodes } = started.json().data
  const app = authenticatorApp(provisioningUrl, service.clock)
  const json = { code: app.code() }
  const verified = await call(`${CLIENT_API}/current-identity/mfa/verify`, { json })
  assert.equal(verified.status, 200, verified.text)
  return { app, recoveryCodes }
}

export interface PartialLogin extends Pkce {
  readonly authRequestId: string
  /** What the password was answered with. */
  readonly reply: Reply
}

/** A login up to the right password, which asks for more. */
export async function partialLogin(service: Service, person: Credentials): Promise<PartialLogin> {
  const { username, password } = person
  const begun = await beginLogin(service)
  const reply = await submitPassword(service, begun.authRequestId, { username, password })
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.headers.location, undefined)
  return { ...begun, reply }
}

export function submitCode(service: Service, id: string, code: string): Promise<Reply> {
  return service.call('/oidc/login/totp', { json: { id, code } })
}

export function startEnrollment(service: Service, authRequestId: string): Promise<Reply> {
  return service.call('/oidc/login/totp/enroll', { json: { authRequestId } })
}

export function verifyEnrollment(
  service: Service,
  authRequestId: string,
  code: string,
): Promise<Reply> {
  return service.call('/oidc/login/totp/enroll/verify', { json: { authRequestId, code } })
}

export function cancelEnrollment(service: Service, authRequestId: string): Promise<Reply> {
  return service.call('/oidc/login/totp/enroll', { method: 'DELETE', json: { authRequestId } })
}

/** Starts an enrollment inside a login and answers the app that scanned it. */
export async function scanned(
  service: Service,
  authRequestId: string,
): Promise<Pick<EnrolledPerson, 'app' | 'recoveryCodes'>> {
  const started = await startEnrollment(service, authRequestId)
  assert.equal(started.status, 201, started.text)
  const { provisioningUrl, recoveryCodes } = started.json()
  return { app: authenticatorApp(provisioningUrl, service.clock), recoveryCodes }
}
