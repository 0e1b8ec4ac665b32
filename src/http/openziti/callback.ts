/**
 * A login of a program ends in two redirects: to an address of ours, and from there to the client. D-316: an existing
 * client requests the first one at the controller and expects the second. The first carries the second, sealed, so that
 * nothing is stored; it grants no more than the code in it, which works once.
 */

import { fromUtf8, utf8 } from '../../base/encoding.ts'
import { CODE_LIFE } from '../../domain/login/finish.ts'
import type { LoginPorts } from '../../domain/login/ports.ts'
import { invalid } from '../../domain/refusals.ts'
import { Failure } from '../../errors/catalogue.ts'
import { type Answer, redirect } from '../answer.ts'
import type { Call } from '../call.ts'
import type { ListenerParts } from '../listener-parts.ts'
import { PATHS } from '../oidc/paths.ts'
import type { Router } from '../router.ts'

type CallbackPorts = Pick<LoginPorts, 'vault' | 'clock'>

/** The addresses whose POST can end a login. */
const LAST_STEPS: readonly string[] = [
  PATHS.loginUsername,
  PATHS.loginPassword,
  PATHS.loginCert,
  PATHS.loginExtJwt,
  PATHS.loginTotp,
  PATHS.totpEnrollVerify,
]

export function throughCallback(
  router: Router,
  path: string,
  ports: CallbackPorts,
  { addresses }: Pick<ListenerParts, 'addresses'>,
): Router {
  return {
    ...router,
    add: (route, handler) => {
      if (route.method !== 'POST' || !LAST_STEPS.includes(route.url)) {
        return router.add(route, handler)
      }
      return router.add(route, async (call) => {
        const answer = await handler(call)
        return call.wantsHtml ? answer : detour(answer, call)
      })
    },
  }

  function detour(answer: Answer, call: Call): Answer {
    const { location } = answer.headers ?? {}
    if (answer.status !== 302 || location === undefined) return answer
    const expiresAt = ports.clock.now() + CODE_LIFE
    const id = ports.vault.seal('openziti-callback', utf8(JSON.stringify({ location, expiresAt })))
    const to = `${addresses().baseUrlOf(call)}${path}?id=${id}`
    return { ...answer, headers: { ...answer.headers, location: to } }
  }
}

export function addCallback(router: Router, url: string, { vault, clock }: CallbackPorts): void {
  router.add(
    {
      method: 'GET',
      url,
      access: 'public',
      face: { json: 'oauth', pages: true },
      replies: [302],
    },
    ({ query }) => {
      const [id, ...others] = query.get('id') ?? []
      if (id === undefined || others.length > 0) throw invalid('id', 'must be given once')
      const opened = vault.open('openziti-callback', id)
      const text = opened && fromUtf8(opened)
      // The seal proves that we wrote it, so its shape needs no checks.
      const kept = text === undefined ? undefined : JSON.parse(text)
      if (kept === undefined || kept.expiresAt <= clock.now()) {
        throw new Failure('INVALID_AUTH_REQUEST', { detail: 'the callback is unknown or expired' })
      }
      return redirect(kept.location)
    },
  )
}
