/** The notifier of `notifications.webhook`, with an event for how each delivery ended. D-378. */
import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Config } from '../../config/config.ts'
import { auditPorts } from '../../domain/audit/ports.ts'
import { recordEvent } from '../../domain/audit/record.ts'
import type { Store } from '../../domain/stores.ts'
import { createNotifier, type Notifier } from './webhook.ts'

/** Undefined if none is configured. */
export function openNotifier(parts: {
  readonly config: Pick<Config, 'notifications'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly store: Pick<Store, 'events'>
}): Notifier | undefined {
  const { config, store, ...rest } = parts
  const { webhook } = config.notifications
  if (webhook === undefined) return undefined
  const audit = auditPorts(rest)
  return createNotifier({
    ...rest,
    webhook,
    async onEnd({ identity, enrollment, caller }, { attempts, why }) {
      const { id } = enrollment
      const { id: identityId } = identity
      const happening =
        why === undefined
          ? ({ type: 'notification.delivered', identityId, details: { id, attempts } } as const)
          : ({ type: 'notification.failed', identityId, details: { id, attempts, why } } as const)
      await store.events.insert(recordEvent(audit, caller, happening))
    },
  })
}
