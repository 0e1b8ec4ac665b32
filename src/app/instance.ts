/**
 * One running instance in one process: start, drain, stop. Once it reports ready, it answers requests. Once it reports
 * stopped, everything it answered is stored. `workers/supervisor.ts` is the same with several processes.
 */
import { endsWithin } from '../base/time/within.ts'
import { openAuditOutput } from './audit-output.ts'
import { runInBackground } from './background.ts'
import { chores } from './chores.ts'
import {
  caFileOf,
  DRAIN,
  type InstanceOptions,
  LAST_ROUNDS,
  openCore,
  type Instance as RunningInstance,
} from './core.ts'
import type { OpenListener } from './listeners.ts'
import { createInstancePresence } from './monitoring/instance-presence.ts'
import { serve } from './serving.ts'

export type Instance = RunningInstance<OpenListener>
export type { InstanceOptions }

export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const { config, clock, log } = options
  const auditOutput = await openAuditOutput(config.audit.output, { log, clock })
  const core = await openCore({ ...options, auditOutput, processes: 1, role: 'first' })
  try {
    const open = await serve(core, { alone: true, intercept: options.intercept })
    const secretReplaced = Promise.withResolvers<void>()
    const databaseRestored = Promise.withResolvers<void>()
    const presence = createInstancePresence(core)
    await presence.begin()
    const work = [
      ...presence.works,
      ...chores(core, {
        onNewAuthorities: open.nameOwnCas,
        renewCertificates: () => open.renewCertificates(),
        onSecretReplaced: secretReplaced.resolve,
        onDatabaseRestored: databaseRestored.resolve,
      }),
    ]
    const background = runInBackground(work, log, core.store.changes)
    return {
      listeners: open.listeners,
      caFile: caFileOf(config),
      renewCertificates: () => open.renewCertificates(),
      secretReplaced: secretReplaced.promise,
      databaseRestored: databaseRestored.promise,
      reopenAuditOutput: () => auditOutput.reopen(),
      async stop() {
        open.announceStop()
        await open.close(DRAIN)
        await endsWithin(LAST_ROUNDS, background.stop())
        await endsWithin(
          LAST_ROUNDS,
          Promise.all([core.ports.routerPresence.flush(), presence.end()]),
        )
        await core.close()
      },
    }
  } catch (error) {
    await core.close()
    throw error
  }
}
