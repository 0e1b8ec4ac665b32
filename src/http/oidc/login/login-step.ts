/**
 * Shared by the login endpoints: finding the login that a call belongs to, and reporting its state afterwards. SPEC
 * Primary login; D-4, D-10, D-11. Programs get JSON, browsers get pages.
 */

import type { LoginStep } from '../../../domain/login/finish.ts'
import type { LoginPorts } from '../../../domain/login/ports.ts'
import type { PrimaryCredential } from '../../../domain/login/prove-primary.ts'
import type { AuthRequestKey, ClientAsk } from '../../../domain/login/request/auth-request.ts'
import type { StepOrigin } from '../../../domain/login/request/browser-binding.ts'
import type { OpenRequest } from '../../../domain/login/request/find-request.ts'
import { JwtDemanded, submitPrimary } from '../../../domain/login/submit-primary.ts'
import { Failure, type FailureCode } from '../../../errors/catalogue.ts'
import type { AuthQuery } from '../../../protocol/auth-query.ts'
import { AUTH_REQUEST_ID_HEADER } from '../../../protocol/headers.ts'
import { formActionSource } from '../../../protocol/redirect-uri.ts'
import { errorText } from '../../../web/login/error-text.ts'
import type { SafeHtml } from '../../../web/login/html.ts'
import { type LoginPath, loginAddress } from '../../../web/login/login-address.ts'
import { enrollStartPage } from '../../../web/login/pages/enroll-page.ts'
import { totpPage } from '../../../web/login/pages/totp-page.ts'
import type { Presentation } from '../../../web/login/presentation.ts'
import { type Answer, type HeaderFields, json, page, redirect, withCookies } from '../../answer.ts'
import type { Call } from '../../call.ts'
import { refusedPage } from '../../error-replies.ts'
import { totpRequired } from '../../faces/challenge-header.ts'
import type { ListenerParts } from '../../listener-parts.ts'
import { bearersOf } from '../../reading/bearers.ts'
import { bodyFields } from '../../reading/body.ts'
import { type Fields, textList } from '../../reading/fields.ts'
import { deviceCookie, shownDevice } from '../../reading/known-device.ts'
import type { Route } from '../../route.ts'
import type { Router } from '../../router.ts'
import { sendToClient } from '../client-answers.ts'
import type { PATHS } from '../paths.ts'
import { authRequestIdOf, type IdField } from './auth-request-id.ts'
import { clearCookies, keepCookies, stepOrigin } from './browser-cookie.ts'
import { during, identified } from './during.ts'

export const LOGIN_ROUTE = {
  access: 'login',
  face: { json: 'api', pages: true },
} as const satisfies Partial<Route>

/** Result of one step: the redirect, the outstanding factors, or the failure. */
export const LOGIN_POST = {
  ...LOGIN_ROUTE,
  method: 'POST',
  reads: ['json', 'form'],
  replies: [200, 302, 401, 406, 429],
} as const satisfies Partial<Route>

/** Of the POST that proves a factor which the login has enrolled. */
export const ENROLL_VERIFY_REPLIES = [200, 302, 401, 403, 404, 406, 409, 429] as const

export type AtListener = Pick<ListenerParts, 'corsOrigins'>

/** Reads the fields of the call, the id under any of its names, and where the call comes from. */
export function readStep(
  call: Call,
  { corsOrigins }: AtListener,
  idField: IdField = 'authRequestId',
): {
  readonly fields: Fields
  readonly authRequestId: string
  readonly origin: StepOrigin
} {
  const fields = bodyFields(call.body)
  const authRequestId = authRequestIdOf(call.query, fields, idField)
  return { fields, authRequestId, origin: stepOrigin(call, corsOrigins) }
}

/** Submits the credential of a primary login, and answers with the step that it leads to. */
export async function answerPrimary(
  ports: LoginPorts,
  call: Call,
  sent: { readonly fields: Fields; readonly found: OpenRequest; readonly authRequestId: string },
  credential: PrimaryCredential,
): Promise<Answer> {
  const { fields, found, authRequestId } = sent
  const step = await submitPrimary(ports, {
    request: found,
    credential,
    bearers: bearersOf(call),
    configTypes: textList(fields, 'configTypes'),
    caller: call.caller,
    ...(credential.method === 'password' ? { device: shownDevice(call, fields) } : {}),
  })
  return answerStep(ports, call, { step, found, authRequestId })
}

interface Found {
  readonly key: AuthRequestKey
  readonly browser: unknown
  readonly ask: Pick<ClientAsk, 'redirectUri' | 'issuer'>
}

/** Redirects with the code, or reports the missing factors. Also sets the cookie that marks the device as known. */
export async function answerStep(
  ports: Pick<LoginPorts, 'identities'>,
  call: Call,
  reached: { readonly step: LoginStep; readonly found: Found; readonly authRequestId: string },
): Promise<Answer> {
  const { step } = reached
  call.isFrom(step)
  const answer = await stepAnswer(ports, call, reached)
  return step.device === undefined ? answer : withCookies(answer, [deviceCookie(step.device)])
}

async function stepAnswer(
  ports: Pick<LoginPorts, 'identities'>,
  call: Call,
  { step, found, authRequestId }: { step: LoginStep; found: Found; authRequestId: string },
): Promise<Answer> {
  if (step.next === 'answer') {
    const { browser, key } = found
    const answer = sendToClient(call, step.answer)
    return browser === undefined ? answer : withCookies(answer, clearCookies(call, key))
  }
  const { authQueries } = step
  const headers = { [AUTH_REQUEST_ID_HEADER]: authRequestId, ...totpRequired(authQueries) }
  if (!call.wantsHtml) return json(200, { authQueries }, headers)
  const passkey = passkeyStep(authQueries)
  if (passkey !== undefined) return redirect(loginAddress(passkey, authRequestId), headers)
  const { identityId } = step
  const presentation = await identified(ports, during(call, found), { identityId, authRequestId })
  return loginPage(200, factorPage(presentation, authRequestId, authQueries), found, headers)
}

/**
 * The page for a passkey, which has options of its own: undefined if no passkey is asked for, or if the user has only the
 * other factor that would do (D-432).
 */
function passkeyStep(authQueries: readonly AuthQuery[]): 'passkey' | 'passkey/enroll' | undefined {
  const query = authQueries.find(({ typeId }) => typeId === 'PASSKEY')
  if (query?.typeId !== 'PASSKEY') return undefined
  if (query.isPasskeyEnrolled) return 'passkey'
  return hasApp(authQueries) ? undefined : 'passkey/enroll'
}

/** Whether a code of the authenticator app is one of the answers. */
export function hasApp(authQueries: readonly AuthQuery[]): boolean {
  return authQueries.some((query) => query.typeId === 'MFA' && query.isTotpEnrolled)
}

/** Where the next factor is asked for. A required external JWT is a failure (D-14), handled by `withForm`. */
export function nextPath(authQueries: readonly AuthQuery[]): LoginPath {
  return passkeyStep(authQueries) ?? (hasApp(authQueries) ? 'totp' : 'totp/enroll')
}

/** The page for the next factor, in the response to the step before it. */
function factorPage(
  presentation: Presentation,
  authRequestId: string,
  authQueries: readonly AuthQuery[],
): SafeHtml {
  return hasApp(authQueries)
    ? totpPage(presentation, { authRequestId })
    : enrollStartPage(presentation, { authRequestId })
}

/** D-50: allows the form to end up at the client after a redirect. */
export function loginPage(
  status: number,
  html: SafeHtml,
  { ask }: Pick<Found, 'ask'>,
  headers: HeaderFields = {},
): Answer {
  const policy = { formAction: [formActionSource(ask.redirectUri)], script: 'passkeys' } as const
  return page(status, html, policy, headers)
}

/** Failures that a user can correct in the form; a program gets the same failure as JSON. */
export const MENDABLE: readonly FailureCode[] = [
  'INVALID_AUTH',
  'SERVER_TOO_BUSY',
  'MFA_INVALID_TOKEN',
  'PASSKEY_INVALID',
  'MFA_ENROLLMENT_NOT_STARTED',
  'RATE_LIMITED',
]

/**
 * The page, and the primary login to keep; undefined if there is no IdP to send the user to. Throws INVALID_AUTH if what
 * proved the primary login was used before.
 */
export type FetchJwt = (
  demanded: JwtDemanded,
) => Promise<{ readonly html: SafeHtml; readonly cookie: string } | undefined>

/** Shows the form again with the error if the user can correct it; rethrows every other error. */
export async function withForm(
  { brand }: Pick<LoginPorts, 'brand'>,
  call: Call,
  use: {
    readonly found: Found
    readonly form: (error: string, code: FailureCode) => SafeHtml | Promise<SafeHtml>
    /** The page that leads to the IdP of a required external JWT (D-156). */
    readonly fetchJwt?: FetchJwt
    readonly mendable?: readonly FailureCode[]
  },
  submit: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await submitOrLead(call, { ...use, brand }, submit)
  } catch (error) {
    if (!call.wantsHtml || !(error instanceof Failure)) throw error
    if (!(use.mendable ?? MENDABLE).includes(error.code)) throw error
    const html = await use.form(errorText(call.presentation, error.code).message, error.code)
    return refusedPage(error, brand, (status) => loginPage(status, html, use.found))
  }
}

/** D-156: sends a browser to the IdP of a required external JWT, unless it cannot get the token there. */
async function submitOrLead(
  call: Call,
  use: { readonly brand: string; readonly found: Found; readonly fetchJwt?: FetchJwt },
  submit: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await submit()
  } catch (error) {
    if (!call.wantsHtml || !(error instanceof JwtDemanded)) throw error
    const fetching = await use.fetchJwt?.(error)
    if (fetching === undefined) throw error
    call.isFrom(error.kept.primary)
    const { html, cookie: value } = fetching
    const answer = refusedPage(error, use.brand, (status) => loginPage(status, html, use.found))
    const kept = { kind: 'primary', key: use.found.key, value } as const
    return withCookies(answer, keepCookies(call, kept))
  }
}

/** Adds the GET of a step: a page for browsers; for programs, a description of what to post (D-11). */
export function addStepPage<Request extends Found>(
  router: Router,
  ports: LoginPorts,
  listener: AtListener,
  step: {
    readonly url: LoginUrl
    readonly fields: readonly [IdField, ...string[]]
    /** Where to post the fields. Default: to the same address. */
    readonly postTo?: LoginUrl
    /** Statuses in addition to 200 and 406. */
    readonly replies?: readonly number[]
    find(ports: LoginPorts, authRequestId: string, origin: StepOrigin): Promise<Request>
    page(call: Call, found: Request, authRequestId: string): SafeHtml | Promise<SafeHtml>
  },
): void {
  const { url, postTo = url, fields, replies = [], find, page } = step
  router.add(
    { ...LOGIN_ROUTE, method: 'GET', url, replies: [200, 406, ...replies] },
    async (call) => {
      const { authRequestId, origin } = readStep(call, listener, fields[0])
      const found = await find(ports, authRequestId, origin)
      const headers = { [AUTH_REQUEST_ID_HEADER]: authRequestId }
      if (call.wantsHtml) {
        return loginPage(200, await page(call, found, authRequestId), found, headers)
      }
      return json(200, { authRequestId, method: 'POST', url: postTo, fields }, headers)
    },
  )
}

type LoginUrl = (typeof PATHS)[keyof typeof PATHS]
