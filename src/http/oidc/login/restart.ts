/** GET /oidc/login/restart: starts a login again that has expired or is complete (D-344). */
import type { LoginPorts } from '../../../domain/login/ports.ts'
import { restartLogin } from '../../../domain/login/request/restart.ts'
import type { RedirectPattern } from '../../../protocol/redirect-uri.ts'
import { redirect, withCookies } from '../../answer.ts'
import type { ListenerParts } from '../../listener-parts.ts'
import type { Router } from '../../router.ts'
import { METHOD_PATHS, PATHS } from '../paths.ts'
import { setCookie } from './browser-cookie.ts'
import { OWN_SITES } from './during.ts'
import { LOGIN_ROUTE, readStep } from './login-step.ts'

interface AtListener extends Pick<ListenerParts, 'addresses' | 'corsOrigins'> {
  readonly allowedRedirects: readonly RedirectPattern[]
}

export function addRestart(router: Router, ports: LoginPorts, listener: AtListener): void {
  router.add(
    { ...LOGIN_ROUTE, method: 'GET', url: PATHS.loginRestart, replies: [302, 406] },
    (call) => {
      const { authRequestId } = readStep(call, listener)
      const { addresses, allowedRedirects } = listener
      const base = addresses().baseUrlOf(call)
      const started = restartLogin(ports, {
        authRequestId,
        issuer: addresses().issuerOf(call),
        allowedRedirects,
        ownSites: new Map(
          Object.values(OWN_SITES).map((path) => [`${base}${path}/callback`, path]),
        ),
        hasCertificate: call.certificateChain() !== undefined,
      })
      if (started.next === 'own-site') return redirect(started.path)
      const { method, authRequestId: id, key, cookie } = started
      const answer = redirect(`${METHOD_PATHS[method]}?authRequestID=${id}`)
      return cookie === undefined ? answer : withCookies(answer, [setCookie(key, cookie)])
    },
  )
}
