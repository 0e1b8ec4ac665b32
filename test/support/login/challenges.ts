/** The `WWW-Authenticate` fields of SPEC 401 challenges, to the letter, for the default brand; D-36 for zt-session. */
import assert from 'node:assert/strict'
import type { Service } from '../service.ts'
import { bearer } from './login.ts'

export const MISSING =
  'zt-session realm="zt-session", error="missing", error_description="no matching token was provided", ' +
  'Bearer realm="service-oidc", error="missing", error_description="no matching token was provided"'
export const INVALID =
  'Bearer realm="service-oidc", error="invalid", error_description="token is invalid"'
export const EXPIRED =
  'Bearer realm="service-oidc", error="expired", error_description="token expired"'
export const NO_SUCH_SESSION =
  'zt-session realm="zt-session", error="invalid", error_description="token is invalid"'

/** An API call that needs a session. */
export const IDENTITY = '/edge/client/v1/current-identity'

/** What the service says to a call with this token: `taken`, or the challenge. */
export async function answerTo(service: Service, token: string): Promise<string> {
  const reply = await service.call(IDENTITY, bearer(token))
  if (reply.status === 200) return 'taken'
  assert.equal(reply.status, 401, reply.text)
  assert.equal(reply.json().error.code, 'UNAUTHORIZED')
  return String(reply.headers['www-authenticate'])
}

/** Each of these tokens, by what is wrong with it, is called invalid. */
export async function assertInvalid(
  service: Service,
  tokens: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [what, token] of Object.entries(tokens)) {
    assert.equal(await answerTo(service, token), INVALID, what)
  }
}

/** D-461: a policy demands a code by now. */
export const CODE_DEMANDED = `${INVALID}, Bearer realm="service-oidc", error="insufficient_user_authentication", error_description="a different authentication is required here", acr_values="urn:latchkey:acr:totp"`
