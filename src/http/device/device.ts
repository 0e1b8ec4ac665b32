/**
 * /device: where a user approves the sign-in of a device without a browser. RFC 8628 §3.3, D-440, D-441. A site of our own
 * like the account: the user signs in with every factor that the policy demands, and its session ends with the answer.
 */

import { isFreshLogin } from '../../domain/account/session.ts'
import { answerDevice, findDevice } from '../../domain/device/answer-device.ts'
import type { DevicePorts } from '../../domain/device/ports.ts'
import { parseUserCode, shownUserCode, type UserCode } from '../../domain/device/user-code.ts'
import { invalid } from '../../domain/refusals.ts'
import { logOut } from '../../domain/sessions/current-session.ts'
import {
  answeredPage,
  confirmDevicePage,
  DEVICE_NOTES,
  type DeviceError,
  deviceBlockedPage,
  deviceFailurePage,
  deviceSignedOutPage,
  enterCodePage,
} from '../../web/device/pages.ts'
import {
  APPROVE_DEVICE_PATH,
  CONFIRM_DEVICE_PATH,
  DENY_DEVICE_PATH,
  DEVICE_PATH,
  DEVICE_SIGN_IN_PATH,
  DEVICE_SIGN_OUT_PATH,
  USER_CODE_PARAMETER,
} from '../../web/device/paths.ts'
import { accountErrorText } from '../../web/login/error-text.ts'
import type { SafeHtml } from '../../web/login/html.ts'
import type { Presentation } from '../../web/login/presentation.ts'
import { type Answer, page, withCookies } from '../answer.ts'
import type { Call } from '../call.ts'
import { addDoors } from '../own-site/doors.ts'
import { fieldOf } from '../own-site/form-checks.ts'
import { type AtListener, SITE_ROUTE, seeNote, seeOther, siteOf } from '../own-site/site.ts'
import { type SiteCall, siteRoutes } from '../own-site/site-routes.ts'
import { redirectToLogin, withPages } from '../own-site/visitor.ts'
import type { Router } from '../router.ts'

const devicePage = (status: number, html: SafeHtml): Answer =>
  page(status, html, { formAction: [] })

const DEVICE_SITE = siteOf({
  name: 'device',
  path: DEVICE_PATH,
  signOutPath: DEVICE_SIGN_OUT_PATH,
  confirmPath: DEVICE_SIGN_IN_PATH,
  // Written again from the code, so that nothing else of the asked address comes back.
  pageAt(asked) {
    const [path, query] = asked.split('?')
    const code = parseUserCode(new URLSearchParams(query).get(USER_CODE_PARAMETER) ?? '')
    return path === CONFIRM_DEVICE_PATH && code !== undefined ? confirmPathOf(code) : undefined
  },
  page: devicePage,
  signedOut: deviceSignedOutPage,
  blocked: deviceBlockedPage,
  failure: (presentation, { code }, { requestId }) =>
    deviceFailurePage(presentation, { ...accountErrorText(presentation, code), requestId }),
})

export function addDevice(router: Router, ports: DevicePorts, listener: AtListener): void {
  const at = { site: DEVICE_SITE, ports, listener }
  const { cookies } = DEVICE_SITE
  const routes = siteRoutes(router, at)
  addDoors(router, at)

  router.add({ ...SITE_ROUTE, method: 'GET', url: DEVICE_PATH, replies: [200, 406] }, (call) =>
    withPages(at, call, async () => {
      const note = DEVICE_NOTES.find((one) => one === cookies.note.read(call))
      const answer = devicePage(
        200,
        note === undefined
          ? enterCodePage(call.presentation, { value: givenCode(call) })
          : answeredPage(call.presentation, note),
      )
      return note === undefined ? answer : withCookies(answer, [cookies.note.clear()])
    }),
  )

  // Not `routes.show`: a code that cannot be one is refused before the user signs in.
  router.add(
    {
      ...SITE_ROUTE,
      method: 'GET',
      url: CONFIRM_DEVICE_PATH,
      replies: [200, 302, 403, 406, 429],
    },
    (call) =>
      withPages(at, call, async () => {
        const value = givenCode(call) ?? ''
        const userCode = parseUserCode(value)
        if (userCode === undefined) return again(call.presentation, value, 'malformed')
        return routes.showTo(call, confirmPathOf(userCode), (known) =>
          confirm(known, call, userCode),
        )
      }),
  )

  async function confirm(known: SiteCall, call: Call, userCode: UserCode): Promise<Answer> {
    const { session, presentation, caller, identity, formToken } = known
    // D-443: the device gets what was proven a moment ago.
    if (!(await isFreshLogin(ports, session))) {
      return redirectToLogin(at, call, confirmPathOf(userCode))
    }
    const device = await findDevice(ports, { userCode, session, caller })
    if (typeof device === 'string') return again(presentation, shownUserCode(userCode), device)
    const { address, userAgent, requestedAt } = device
    return devicePage(
      200,
      confirmDevicePage(presentation, {
        userCode: shownUserCode(userCode),
        name: identity.name,
        formToken,
        address,
        userAgent,
        requestedAt,
      }),
    )
  }

  for (const [url, answer] of [
    [APPROVE_DEVICE_PATH, 'approved'],
    [DENY_DEVICE_PATH, 'denied'],
  ] as const) {
    routes.submit({ url, page: DEVICE_PATH }, async ({ session, caller, presentation }, fields) => {
      const given = fieldOf(fields, USER_CODE_PARAMETER)
      const userCode = parseUserCode(given)
      if (userCode === undefined) return again(presentation, given, 'malformed')
      const outcome = await answerDevice(ports, { userCode, session, caller, answer })
      if (outcome === 'stale') return seeOther(confirmPathOf(userCode))
      if (outcome !== 'done') return again(presentation, shownUserCode(userCode), outcome)
      // The sign-in was for this answer alone: a browser of others is left without a session.
      await logOut(ports, session, caller)
      return withCookies(seeNote(DEVICE_SITE, DEVICE_PATH, answer), [cookies.session.clear()])
    })
  }
}

function again(presentation: Presentation, value: string, error: DeviceError): Answer {
  return devicePage(200, enterCodePage(presentation, { value: value.slice(0, 32), error }))
}

function confirmPathOf(userCode: UserCode): string {
  return `${CONFIRM_DEVICE_PATH}?${USER_CODE_PARAMETER}=${shownUserCode(userCode)}`
}

function givenCode({ query }: Pick<Call, 'query'>): string | undefined {
  const [value, ...others] = query.get(USER_CODE_PARAMETER) ?? []
  if (others.length > 0) throw invalid(USER_CODE_PARAMETER, 'is repeated')
  return value?.slice(0, 64)
}
