/**
 * Signing in to our own pages and out: GET …/callback, where the login returns to; GET …/confirm, a fresh login before a
 * change; POST …/sign-out and the page after it. D-161, D-162, R113.
 */

import { Secret } from '../../base/secrets/secret.ts'
import { finishAccountLogin, isAccountState } from '../../domain/account/login.ts'
import { sealAccountSession } from '../../domain/account/session.ts'
import { invalid } from '../../domain/refusals.ts'
import { readEndingId, writeEndingId } from '../../domain/sessions/confirming/ending-id.ts'
import { logOut } from '../../domain/sessions/current-session.ts'
import { type Answer, withCookies } from '../answer.ts'
import type { Call } from '../call.ts'
import { bodyFields } from '../reading/body.ts'
import type { Router } from '../router.ts'
import { createReadEnd } from './ending-proof.ts'
import { refuseForeign, refuseForged } from './form-checks.ts'
import { SITE_ROUTE, seeOther } from './site.ts'
import { redirectToLogin, type SiteAt, sessionToEnd, withPages } from './visitor.ts'

export function addDoors(router: Router, at: SiteAt): void {
  const { site, ports, listener } = at
  const { callbackPath, confirmPath, signOutPath, signedOutPath, cookies } = site
  const readEnd = createReadEnd(ports)
  router.add(
    { ...SITE_ROUTE, method: 'GET', url: callbackPath, replies: [303, 406, 429] },
    (call) => comeIn(at, call),
  )

  router.add({ ...SITE_ROUTE, method: 'GET', url: confirmPath, replies: [302, 406] }, (call) =>
    withPages(at, call, async () => {
      const [asked, ...others] = call.query.get('page') ?? []
      if (others.length > 0) throw invalid('page', 'is repeated')
      return redirectToLogin(at, call, site.pageAt(asked ?? '') ?? site.path)
    }),
  )

  router.add(
    {
      ...SITE_ROUTE,
      method: 'POST',
      url: signOutPath,
      reads: ['form'],
      replies: [303, 403, 406],
    },
    (call) =>
      withPages(at, call, async () => {
        refuseForeign(call, listener)
        const session = await sessionToEnd(at, call)
        const endings: string[] = []
        // A session that is already over need not be ended, and its form cannot be checked any further.
        if (session !== undefined) {
          call.isFrom(session)
          const fields = bodyFields(call.body)
          refuseForged(ports, site, session, { form: signOutPath, fields })
          const caller = { ...call.caller, actorId: session.identityId }
          const { ended } = await ports.collectedEndings.collect(() =>
            logOut(ports, session, caller),
          )
          if (ended !== undefined)
            endings.push(cookies.ending.keep(writeEndingId(ports.vault, ended)))
        }
        const cleared = [cookies.session.clear(), ...cookies.input.clearIfSent(call)]
        return withCookies(seeOther(signedOutPath), [...cleared, ...endings])
      }),
  )

  router.add({ ...SITE_ROUTE, method: 'GET', url: signedOutPath, replies: [200, 406] }, (call) =>
    withPages(at, call, async () => {
      const ending = cookies.ending.read(call)
      const thing = ending === undefined ? undefined : readEndingId(ports.vault, ending)
      const end = await readEnd(thing)
      const answer = site.page(200, site.signedOut(call.presentation, end))
      return end === undefined || end.outcome === 'pending'
        ? answer
        : withCookies(answer, [cookies.ending.clear()])
    }),
  )
}

const PARAMETERS = ['state', 'code', 'iss', 'error'] as const

/** Ends the login: the browser is left with a session, or with nothing. */
async function comeIn(at: SiteAt, call: Call): Promise<Answer> {
  const { site, ports, listener } = at
  const { cookies } = site
  const { query, caller } = call
  const { addresses } = listener
  const state = query.get('state')?.[0] ?? ''
  const isState = isAccountState(state)
  const answer = await withPages(at, call, async () => {
    const repeated = PARAMETERS.find((name) => (query.get(name)?.length ?? 0) > 1)
    if (repeated !== undefined) throw invalid(repeated, 'is repeated')
    const code = query.get('code')?.[0]
    const issuer = addresses().issuerOf(call)
    const finished = await finishAccountLogin(ports, {
      site: site.name,
      issuer,
      callback: `${addresses().baseUrlOf(call)}${site.callbackPath}`,
      state,
      kept: isState ? cookies.login(state).read(call) : undefined,
      iss: query.get('iss')?.[0],
      code: code === undefined || query.has('error') ? undefined : new Secret(code),
      caller,
    })
    call.isFrom(finished)
    // The browser keeps only one session: end the previous one, which would otherwise stay open unused.
    const before = await sessionToEnd(at, call)
    if (before !== undefined) await logOut(ports, before, { ...caller, actorId: before.identityId })
    const { accessToken, lifeSeconds, to } = finished
    const again = before?.identityId === finished.identityId ? [cookies.note.keep('confirmed')] : []
    return withCookies(seeOther(site.pageAt(to) ?? site.path), [
      cookies.session.keep(sealAccountSession(ports, site.name, accessToken, issuer), lifeSeconds),
      ...again,
    ])
  })
  return isState ? withCookies(answer, [cookies.login(state).clear()]) : answer
}
