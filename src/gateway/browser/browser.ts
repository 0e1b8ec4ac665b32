/**
 * Browsers through the gateway: puts together the parts of this folder. docs/gateway.md; D-410 to D-412. The gateway is
 * an OIDC client of its controller, which it looks up when the first browser needs it.
 */

import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/secrets/random.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, seconds } from '../../base/time/duration.ts'
import { type Client, connect } from '../../client/client.ts'
import type { Router } from '../../router/router.ts'
import { brandOf } from '../http/answers.ts'
import type { WayIn } from '../passing/admit.ts'
import type { OwnRoute } from '../passing/own-routes.ts'
import { createExchanges } from './exchanges.ts'
import { sendToBrowser, visitOf } from './send.ts'
import { createBrowserSessions } from './sessions.ts'
import type { SignInPorts } from './sign-in.ts'
import { answerSite, SITE_ROUTES } from './site.ts'
import { createBrowserWay } from './way-in.ts'

export interface Browsers {
  readonly wayIn: WayIn
  readonly routes: readonly OwnRoute[]
  readonly ports: SignInPorts
  stop(): void
}

export interface BrowserOptions {
  readonly controller: string
  /** The CAs that the controller is trusted by, in PEM. */
  readonly ca: string
  readonly router: Pick<Router, 'checkHeldToken' | 'watch' | 'brand'>
  readonly log: Log
  readonly random: Random
  readonly clock: Clock
}

const REFRESH_EVERY: Duration = seconds(10)

/** A browser waits for each of these calls. */
const PATIENCE_MILLISECONDS = 10_000

export function openToBrowsers(options: BrowserOptions): Browsers {
  const { router, log, random, clock } = options
  const sessions = createBrowserSessions({ router, random, log })
  const vault = createVault(random.bytes(INSTALLATION_SECRET_BYTES), random)
  let connecting: Promise<Client> | undefined

  /** One lookup at a time, and a failed one is repeated for the next browser. */
  function client(): Promise<Client> {
    connecting ??= lookUp().catch((error: unknown) => {
      connecting = undefined
      throw error
    })
    return connecting
  }

  async function lookUp(): Promise<Client> {
    const clientId = router.brand()
    if (clientId === undefined) throw new Error('the controller has not been reached yet')
    const { controller: url, ca } = options
    const timeoutMilliseconds = PATIENCE_MILLISECONDS
    return connect({ url, ca, clientId, clock, random, timeoutMilliseconds })
  }

  const ports: SignInPorts = { client, sessions, vault, clock, log, exchange: createExchanges() }
  const site = { ...ports, brand: () => brandOf(router) }
  const refreshing = setInterval(() => void sessions.refreshHeld(), REFRESH_EVERY)
  return {
    ports,
    wayIn: createBrowserWay(site),
    routes: SITE_ROUTES.map((name) => ({
      name,
      async handle(exchange, rest) {
        const visit = visitOf(exchange)
        if (visit === undefined || rest.length > 0 || visit.isUpgrade) {
          exchange.answer({ code: 'NOT_FOUND' }, {})
          return
        }
        sendToBrowser(exchange, await answerSite(site, name, visit))
      },
    })),
    stop() {
      clearInterval(refreshing)
      connecting?.then((connected) => connected.close()).catch(() => undefined)
    },
  }
}
