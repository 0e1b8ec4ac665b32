/**
 * GET /oidc/login/ext-jwt/start and …/callback: browser login through an external IdP. D-47. The start redirects the
 * user to the IdP; the callback takes its response and continues like a posted JWT. No token ever reaches the browser.
 */

import type { ExternalJwtSigner } from '../../../domain/ext-jwt/signer.ts'
import { finishReturn, recogniseReturn } from '../../../domain/login/external/come-back.ts'
import type { ExternalRole } from '../../../domain/login/external/round-trip.ts'
import { sendAway } from '../../../domain/login/external/send-away.ts'
import type { LoginPorts } from '../../../domain/login/ports.ts'
import { findOpenRequest } from '../../../domain/login/request/find-request.ts'
import { invalid } from '../../../domain/refusals.ts'
import type { FailureCode } from '../../../errors/catalogue.ts'
import type { SafeHtml } from '../../../web/login/html.ts'
import { loginAddress } from '../../../web/login/login-address.ts'
import type { Presentation } from '../../../web/login/presentation.ts'
import type { TextKey } from '../../../web/texts/en.ts'
import { redirect, withCookies } from '../../answer.ts'
import type { Call } from '../../call.ts'
import type { ListenerParts } from '../../listener-parts.ts'
import { textField } from '../../reading/fields.ts'
import type { Router } from '../../router.ts'
import { PATHS } from '../paths.ts'
import { keepCookies, keptCookies, stepOrigin } from './browser-cookie.ts'
import { during, partly } from './during.ts'
import { answerStep, LOGIN_ROUTE, MENDABLE, nextPath, readStep, withForm } from './login-step.ts'
import { choicePage, fetchJwtFrom, secondPage } from './signer-choice.ts'

/** Ids are far shorter, but the codes of some IdPs are JWTs. */
const LONGEST_ID = 64
const LONGEST_CODE = 8 * 1024

/** Failures that a user can resolve by trying again or by choosing another IdP. */
const WORTH_ANOTHER_TRY: readonly FailureCode[] = [...MENDABLE, 'UNAUTHORIZED', 'IDP_UNAVAILABLE']

export function addLoginExternal(
  router: Router,
  ports: LoginPorts,
  listener: Pick<ListenerParts, 'addresses' | 'corsOrigins'>,
): void {
  router.add(
    { ...LOGIN_ROUTE, method: 'GET', url: PATHS.extJwtStart, replies: [302, 406] },
    async (call) => {
      const { query } = call
      const { authRequestId, origin } = readStep(call, listener)
      const signerId = textField(query, 'signer', LONGEST_ID)
      const role = readRole(query)
      const found = await findOpenRequest(ports, authRequestId, origin)
      const { key } = found
      const form = (_: string, code: FailureCode) => {
        const signer = ports.rules.signers().find(({ id }) => id === signerId)
        return pageAfter(during(call, found), { role, signer, authRequestId }, code, ports)
      }
      return withForm(ports, call, { found, form, mendable: WORTH_ANOTHER_TRY }, async () => {
        const { location, cookie } = await sendAway(ports, {
          request: found,
          authRequestId,
          signerId,
          role,
          kept: keptCookies(call).primary(key),
          redirectUri: `${listener.addresses().baseUrlOf(call)}${PATHS.extJwtCallback}`,
        })
        const kept = { kind: 'idp', key, value: cookie } as const
        return withCookies(redirect(location), keepCookies(call, kept))
      })
    },
  )

  router.add(
    {
      ...LOGIN_ROUTE,
      method: 'GET',
      url: PATHS.extJwtCallback,
      replies: [200, 302, 401, 406, 429],
    },
    async (call) => {
      const { query } = call
      const state = textField(query, 'state', LONGEST_ID)
      const answer = {
        code: optional(query, 'code'),
        error: optional(query, 'error'),
        iss: optional(query, 'iss'),
      }
      if (answer.code === undefined && answer.error === undefined) {
        throw invalid('code', 'is missing')
      }
      const origin = stepOrigin(call, listener.corsOrigins)
      const returned = await recogniseReturn(ports, state, keptCookies(call), origin)
      const { request: found, trip, signer, kept } = returned
      const { authRequestId } = trip
      const form = async (_: string, code: FailureCode) => {
        const shown =
          kept === undefined
            ? during(call, found)
            : await partly(ports, call, { ask: found.ask, primary: kept.primary }, authRequestId)
        return pageAfter(shown, { ...trip, signer }, code, ports)
      }
      const fetchJwt = fetchJwtFrom(
        ports,
        call,
        found,
        authRequestId,
        trip.role === 'secondary' ? call.presentation.say('secondProof.otherAccount') : undefined,
      )
      const mending = { found, form, fetchJwt, mendable: WORTH_ANOTHER_TRY }
      return withForm(ports, call, mending, async () => {
        const step = await finishReturn(ports, returned, answer, call.caller)
        if (step.next === 'answer' || !call.wantsHtml) {
          return answerStep(ports, call, { step, found, authRequestId })
        }
        call.isFrom(step)
        // A page with its own address can be reloaded, and the address does not contain the IdP's code.
        return redirect(loginAddress(nextPath(step.authQueries), authRequestId))
      })
    },
  )
}

const TEXTS = {
  IDP_UNAVAILABLE: 'provider.unavailable',
  INVALID_AUTH: 'provider.refused',
  RATE_LIMITED: 'provider.tooMany',
} as const satisfies Partial<Record<FailureCode, TextKey>>

/** Says why the login failed and how to try again. D-12: the wording is the same for every refusal of an account. */
function pageAfter(
  presentation: Presentation,
  trip: {
    readonly role: ExternalRole
    readonly signer: ExternalJwtSigner | undefined
    readonly authRequestId: string
  },
  code: FailureCode,
  { rules }: LoginPorts,
): SafeHtml {
  const { role, signer, authRequestId } = trip
  const key = code in TEXTS ? TEXTS[code as keyof typeof TEXTS] : 'provider.failed'
  const text = presentation.say(key)
  return role === 'secondary' && signer !== undefined
    ? secondPage(presentation, signer, authRequestId, text)
    : choicePage(presentation, rules, authRequestId, text)
}

function readRole(query: Call['query']): ExternalRole {
  const factor = optional(query, 'factor') ?? 'primary'
  if (factor === 'primary' || factor === 'secondary') return factor
  throw invalid('factor', 'must be primary or secondary')
}

function optional(query: Call['query'], name: string): string | undefined {
  return query.has(name) ? textField(query, name, LONGEST_CODE) : undefined
}
