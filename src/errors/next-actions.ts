/**
 * What a client does next about a refusal: a closed list, so that an SDK can switch over it (D-323). Every error of the
 * catalogue names its own; those that depend on what was missing are told apart here.
 */
import type { AuthQuery } from '../protocol/auth-query.ts'
import type { Challenge } from '../protocol/challenge.ts'

/** With what each means, for docs/errors.md and docs/sdk-authors.md. */
export const NEXT_ACTIONS = {
  refresh: 'Get a new access token with the refresh token, then send the same request with it.',
  'sign-in': 'Begin a new login. The credential that was sent is not valid, or no longer is.',
  'correct-credentials':
    'Ask the user for the credentials again, on the same auth request. Never resend the same ones automatically.',
  'present-certificate':
    'Connect again with the client certificate (and its intermediates), then send the same request.',
  'present-jwt':
    'Get a JWT of the signer that `id` and `issuer` of the challenge name, and send it as a second bearer token.',
  'enter-code':
    'Ask the user for the next code of the authenticator app or for a recovery code. Never resend the same one.',
  'use-passkey':
    'Get fresh options and let the user answer with a passkey, or ask for a recovery code. Never resend the same answer.',
  'enroll-passkey':
    'Enroll a passkey first: start the enrollment, then send what the authenticator created.',
  'prove-key':
    'Create a new DPoP proof, with the nonce of the `DPoP-Nonce` field of this response, and send the same request with it.',
  'enroll-totp': 'Enroll an authenticator app first: start the enrollment, then verify a code.',
  wait: 'Wait for `Retry-After` seconds, with some jitter, then send the same request. If the field is missing, wait a few seconds.',
  retry: 'Send it again, once, if it may be repeated.',
  'correct-request':
    'Tell the program which value is wrong: `cause`, or the end of `error_description`, names the field.',
  'ask-administrator': 'Refer the user to an administrator. No retry will help.',
  'fix-configuration':
    'Correct the configuration: address, client id, redirect URIs. No retry will help.',
  'fix-client': 'Correct the client: this is a bug in it.',
  report: 'Report it to the operator, with the request id: the service failed.',
  none: 'There is nothing to do about it automatically. Tell the program: what it asked for does not exist, or already exists.',
} as const satisfies Record<string, string>

export type NextAction = keyof typeof NEXT_ACTIONS

export const NEXT_ACTION_NAMES = Object.keys(NEXT_ACTIONS) as [NextAction, ...NextAction[]]

/** The action about a 401 that says what is missing; undefined if it says nothing. A query is more exact than a challenge. */
export function actionAbout(missing: {
  readonly authQueries?: readonly AuthQuery[] | undefined
  readonly challenges?: readonly Challenge[] | undefined
}): NextAction | undefined {
  const [query] = missing.authQueries ?? []
  if (query !== undefined) return actionOfQuery(query)
  const [challenge] = missing.challenges ?? []
  if (challenge === undefined) return undefined
  // Only the realms of external JWTs name a signer (SPEC 401 challenges).
  if (challenge.id !== undefined) return 'present-jwt'
  // A proof that is not valid would not become valid by a repeat; a token that needs a proof, or a nonce, would.
  if (challenge.error === 'invalid_dpop_proof') return 'fix-client'
  if (challenge.error === 'use_dpop_nonce') return 'prove-key'
  return challenge.error === 'expired' ? 'refresh' : 'sign-in'
}

function actionOfQuery(query: AuthQuery): NextAction {
  switch (query.typeId) {
    case 'MFA':
      return query.isTotpEnrolled ? 'enter-code' : 'enroll-totp'
    case 'PASSKEY':
      return query.isPasskeyEnrolled ? 'use-passkey' : 'enroll-passkey'
    case 'EXT-JWT':
      return 'present-jwt'
  }
}
