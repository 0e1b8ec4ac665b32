/**
 * Picks up changes of `gateway.yml`, of the certificate and of the identity while the gateway runs: at SIGHUP, and when
 * a file has changed. What cannot be used is named in the log, and the gateway goes on as it was. D-396.
 */
import type { Log } from '../../base/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import type { LoadedSettings } from '../../gateway/settings/load.ts'
import type { GatewaySettings } from '../../gateway/settings/settings.ts'
import type { Router } from '../../router/router.ts'
import type { RouterIdentity } from '../../router/router-identity.ts'
import { type Listener, readIdentity, readListener } from './identity.ts'

export interface InUse {
  readonly settings: GatewaySettings
  readonly identity: RouterIdentity
  readonly listener: Listener
}

export interface ReloadPorts {
  readonly load: () => Promise<LoadedSettings>
  readonly identityFile: string
  readonly gateway: Pick<Gateway, 'replaceCertificate' | 'replaceUpstreams'>
  readonly router: Pick<Router, 'replaceIdentity'>
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

/** Everything else that the file says is read only at the start. */
const LIVE: readonly string[] = ['upstreams', 'certificate'] satisfies (keyof GatewaySettings)[]

/** Returns what is in use from now on. Never throws. */
export async function reload(ports: ReloadPorts, before: InUse): Promise<InUse> {
  const { gateway, router, log } = ports
  try {
    const { settings } = await ports.load()
    const identity = await readIdentity(ports.identityFile)
    if (identity.id !== before.identity.id) {
      throw new Error('the identity is another one; that needs a restart')
    }
    const listener = await readListener(settings, identity, ports.clock.now())
    for (const key of fixedChanges(before.settings, settings)) {
      log.warn({ key }, 'a setting has changed that is used only after a restart')
    }
    const changed: string[] = []
    if (identity.cert !== before.identity.cert || identity.ca !== before.identity.ca) {
      const { id, cert, key, ca } = identity
      router.replaceIdentity({ id, cert, key: key.reveal(), ca })
      changed.push('identity')
    }
    if (listener.certificatePem !== before.listener.certificatePem) {
      gateway.replaceCertificate(listener)
      for (const note of listener.notes) log.warn({}, note)
      changed.push('certificate')
    }
    if (!isSame(settings.upstreams, before.settings.upstreams)) {
      gateway.replaceUpstreams(settings.upstreams)
      changed.push('upstreams')
    }
    if (changed.length > 0) log.info({ changed }, 'changes were picked up')
    return { settings, identity, listener }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    log.error({ why }, 'the changes cannot be used; everything stays as it was')
    return before
  }
}

function fixedChanges(before: GatewaySettings, now: GatewaySettings): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)])
  return [...names].filter(
    (name) => !LIVE.includes(name) && !isSame(Reflect.get(before, name), Reflect.get(now, name)),
  )
}

/** Settings are plain data, always built in the same order. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
