/** Puts forward authentication together: the listener for proxies, and the same question at the gateway itself. D-413. */

import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Router } from '../../router/router.ts'
import type { Browsers } from '../browser/browser.ts'
import { sendToBrowser, visitOf } from '../browser/send.ts'
import { isIdentityField, onlyValue } from '../http/fields.ts'
import type { ListenerCertificate } from '../listener/listener-problems.ts'
import type { OwnRoute } from '../passing/own-routes.ts'
import type { VerifySettings } from '../settings/settings.ts'
import { createIdentityJwts } from './identity-jwt.ts'
import { keySet, startVerifyListener, type VerifyListener } from './listener.ts'
import { type VerifyPorts, verifyVisit } from './verify.ts'

export interface Verifying {
  readonly routes: readonly OwnRoute[]
  /** Undefined without `verify.listen`. */
  readonly listener: VerifyListener | undefined
}

export async function openVerifying(
  settings: VerifySettings,
  deps: ListenerCertificate & {
    readonly browsers: Pick<Browsers, 'ports'>
    readonly router: Pick<Router, 'brand' | 'rolesOf'>
    readonly clock: Pick<Clock, 'now'>
    readonly random: Random
    readonly log: Log
  },
): Promise<Verifying> {
  const { browsers, router, random, log } = deps
  const ports: VerifyPorts = {
    ...browsers.ports,
    router,
    require: settings.require,
    jwts: settings.jwt ? await createIdentityJwts(deps) : undefined,
  }
  const { listen } = settings
  return {
    routes: [verifyRoute(ports), keysRoute(ports)],
    listener:
      listen === undefined
        ? undefined
        : await startVerifyListener({ ...ports, random, log }, listen, deps),
  }
}

/**
 * At the gateway's own listener, where any caller can write `X-Forwarded-…`: the host is that of the request, and there is
 * no redirect. A method that a proxy names only makes the answer stricter.
 */
function verifyRoute(ports: VerifyPorts): OwnRoute {
  return {
    name: 'verify',
    async handle(exchange) {
      const visit = visitOf(exchange)
      if (visit === undefined) {
        exchange.answer({ code: 'BAD_REQUEST' }, { why: 'its Host is not valid' })
        return
      }
      if (visit.fields.some(isIdentityField)) {
        const why = 'it has fields that only the gateway may write' // D-426
        exchange.answer({ code: 'BAD_REQUEST' }, { why })
        return
      }
      const method =
        onlyValue(visit.fields, 'x-forwarded-method') ??
        onlyValue(visit.fields, 'x-original-method') ??
        visit.method
      const asked = { ...visit, method, target: '/' }
      sendToBrowser(exchange, await verifyVisit(ports, asked, { canRedirect: false }))
    },
  }
}

function keysRoute(ports: VerifyPorts): OwnRoute {
  return {
    name: 'jwks.json',
    handle: (exchange) => sendToBrowser(exchange, keySet(ports)),
  }
}
