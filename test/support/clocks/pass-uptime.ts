import type { Duration } from '../../../src/base/time/duration.ts'
import { eventually } from '../eventually.ts'
import { authorizationParameters, authorize, pkce } from '../login/login.ts'
import type { Service } from '../service.ts'
import type { UptimeClock } from './uptime-clock.ts'

/** Of no router. Whether it is one of them, only a fresh copy of the rules can tell. */
const redirect_uri = 'https://unknown.example/.latchkey/callback'

/** Lets uptime pass, and waits until the service has read its rules again: it refuses logins until then (D-487). */
export async function passUptime(
  service: Service,
  clock: UptimeClock,
  time: Duration,
): Promise<void> {
  clock.pass(time)
  const parameters = authorizationParameters(pkce().challenge, { redirect_uri })
  await eventually(async () => {
    const { status } = await authorize(service, parameters)
    return status === 503 ? undefined : true
  }, 'fresh rules')
}
