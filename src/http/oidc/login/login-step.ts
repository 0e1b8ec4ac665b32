/**
 * What the login endpoints have in common: reading whose login it is, and wording where it stands afterwards. SPEC
 * Primary login; D-4, D-10, D-11. JSON for programs, pages for people.
 */

import type { LoginStep } from '../../../domain/login/finish.ts'
import type { LoginPorts } from '../../../domain/login/ports.ts'
import type { AuthRequestKey, ClientAsk } from '../../../domain/login/request/auth-request.ts'
import type { StepOrigin } from '../../../domain/login/request/browser-binding.ts'
import { JwtDemanded } from '../../../domain/login/submit-primary.ts'
import { CATALOGUE, Failure, type FailureCode } from '../../../errors/catalogue.ts'
import type { AuthQuery } from '../../../protocol/auth-query.ts'
import { AUTH_REQUEST_ID_HEADER } from '../../../protocol/headers.ts'
import { formActionSource } from '../../../protocol/redirect-uri.ts'
import type { SafeHtml } from '../../../web/login/html.ts'
import { enrollStartPage } from '../../../web/login/pages/enroll-page.ts'
import { totpPage } from '../../../web/login/pages/totp-page.ts'
import { errorText } from '../../../web/login/texts.ts'
import { type Answer, type HeaderFields, json, page, withCookies } from '../../answer.ts'
import type { Call } from '../../call.ts'
import { failureHeaders, totpRequired } from '../../faces/challenge-header.ts'
import type { ListenerParts } from '../../listener-parts.ts'
import { bodyFields } from '../../reading/body.ts'
import { deviceCookie } from '../../reading/known-device.ts'
import type { Route } from '../../route.ts'
import { sendToClient } from '../client-answers.ts'
import type { PATHS } from '../paths.ts'
import { authRequestIdOf } from './auth-request-id.ts'
import { clearCookies, keepCookies, stepOrigin } from './browser-cookie.ts'

export const LOGIN_ROUTE = {
  access: 'login',
  face: { json: 'api', pages: true },
  cors: 'none',
} as const satisfies Partial<Route>

/** D-11: a page, or what to post. */
export const LOGIN_GET = {
  ...LOGIN_ROUTE,
  method: 'GET',
  reads: [],
  replies: [200, 406],
} as const satisfies Partial<Route>

/** One step forward: the redirect, what is outstanding, or why not. */
export const LOGIN_POST = {
  ...LOGIN_ROUTE,
  method: 'POST',
  reads: ['json', 'form'],
  replies: [200, 302, 401, 406, 429],
} as const satisfies Partial<Route>

export type AtListener = Pick<ListenerParts, 'corsOrigins'>

/** The fields of the call, the id under any of its names, and where the call comes from. */
export function readStep(
  call: Call,
  { corsOrigins }: AtListener,
): {
  readonly fields: ReturnType<typeof bodyFields>
  readonly authRequestId: string
  readonly origin: StepOrigin
} {
  const fields = bodyFields(call.body)
  const authRequestId = authRequestIdOf(call.query, fields)
  return { fields, authRequestId, origin: stepOrigin(call, corsOrigins) }
}

interface Found {
  readonly key: AuthRequestKey
  readonly browser: unknown
  readonly ask: Pick<ClientAsk, 'redirectUri'>
}

/** A redirect with the code, or the factors that are still missing; and the cookie that makes the device known. */
export function answerStep(
  call: Call,
  reached: { readonly step: LoginStep; readonly found: Found; readonly authRequestId: string },
): Answer {
  const { step } = reached
  call.isFrom(step)
  const answer = stepAnswer(call, reached)
  return step.device === undefined ? answer : withCookies(answer, [deviceCookie(step.device)])
}

function stepAnswer(
  call: Call,
  { step, found, authRequestId }: { step: LoginStep; found: Found; authRequestId: string },
): Answer {
  if (step.next === 'answer') {
    const { browser, key } = found
    const answer = sendToClient(step.answer)
    return browser === undefined ? answer : withCookies(answer, clearCookies(call, key))
  }
  const { authQueries } = step
  const headers = { [AUTH_REQUEST_ID_HEADER]: authRequestId, ...totpRequired(authQueries) }
  if (!call.wantsHtml) return json(200, { authQueries }, headers)
  return loginPage(200, factorPage(authRequestId, authQueries), found, headers)
}

/** The page of the factor that a person proves next. A demanded external JWT is a failure (D-14): `withForm`. */
function factorPage(authRequestId: string, authQueries: readonly AuthQuery[]): SafeHtml {
  const isEnrolled = authQueries.some((query) => query.typeId === 'MFA' && query.isTotpEnrolled)
  return isEnrolled
    ? totpPage({ authRequestId, canRecover: true })
    : enrollStartPage({ authRequestId })
}

/** D-50: the form may lead to the client, by way of a redirect. */
export function loginPage(
  status: number,
  html: SafeHtml,
  { ask }: Pick<Found, 'ask'>,
  headers: HeaderFields = {},
): Answer {
  return page(status, html, { formAction: [formActionSource(ask.redirectUri)] }, headers)
}

/** What a person at a form can mend; a program gets the same failure as JSON. */
export const MENDABLE: readonly FailureCode[] = [
  'INVALID_AUTH',
  'SERVER_TOO_BUSY',
  'MFA_INVALID_TOKEN',
  'MFA_ENROLLMENT_NOT_STARTED',
  'RATE_LIMITED',
]

/** The page, and what to keep of the primary login; undefined when nobody can be sent there. */
export type FetchJwt = (
  demanded: JwtDemanded,
) => { readonly html: SafeHtml; readonly cookie: string } | undefined

/** Shows the form again, with what was wrong, to somebody who can mend it; throws everything else on. */
export async function withForm(
  { brand }: Pick<LoginPorts, 'brand'>,
  call: Call,
  use: {
    readonly found: Found
    readonly form: (error: string, code: FailureCode) => SafeHtml | Promise<SafeHtml>
    /** Where a demanded external JWT can be had: the page that leads there (D-156). */
    readonly fetchJwt?: FetchJwt
    readonly mendable?: readonly FailureCode[]
  },
  submit: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await submit()
  } catch (error) {
    if (!call.wantsHtml || !(error instanceof Failure)) throw error
    const led = error instanceof JwtDemanded ? leadToIdp(call, { ...use, brand }, error) : undefined
    if (led !== undefined) return led
    if (!(use.mendable ?? MENDABLE).includes(error.code)) throw error
    const html = await use.form(errorText(error.code).message, error.code)
    const { status } = CATALOGUE[error.code]
    const answer = loginPage(status, html, use.found, failureHeaders(error, brand))
    return { ...answer, failure: error }
  }
}

/** D-156. Undefined when this browser cannot get what is demanded. */
function leadToIdp(
  call: Call,
  use: { readonly brand: string; readonly found: Found; readonly fetchJwt?: FetchJwt },
  demanded: JwtDemanded,
): Answer | undefined {
  const fetching = use.fetchJwt?.(demanded)
  if (fetching === undefined) return undefined
  call.isFrom(demanded.kept.primary)
  const { status } = CATALOGUE[demanded.code]
  const headers = failureHeaders(demanded, use.brand)
  const answer = loginPage(status, fetching.html, use.found, headers)
  const kept = { kind: 'primary', key: use.found.key, value: fetching.cookie } as const
  return { ...withCookies(answer, keepCookies(call, kept)), failure: demanded }
}

/** D-11: what a program that asks with GET is told. */
export function whatToPost(
  authRequestId: string,
  url: (typeof PATHS)[keyof typeof PATHS],
  fields: readonly string[],
): Answer {
  const headers = { [AUTH_REQUEST_ID_HEADER]: authRequestId }
  return json(200, { authRequestId, method: 'POST', url, fields }, headers)
}
