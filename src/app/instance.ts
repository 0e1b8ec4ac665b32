/**
 * One running instance in one process: start, drain, stop. Once it reports ready, it answers requests. Once it reports
 * stopped, everything it answered is stored. `workers/supervisor.ts` is the same with several processes.
 */
import { openAuditOutput } from './audit-output.ts'
import { beginWork } from './chores.ts'
import {
  caFileOf,
  DRAIN,
  type InstanceOptions,
  openCore,
  type Instance as RunningInstance,
} from './core.ts'
import type { OpenListener } from './listeners.ts'
import { serve } from './serving.ts'

export type Instance = RunningInstance<OpenListener>
export type { InstanceOptions }

export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const { config, clock, log } = options
  const auditOutput = await openAuditOutput(config.audit.output, { log, clock })
  const core = await openCore({ ...options, auditOutput, processes: 1, role: 'first' })
  try {
    const open = await serve(core, { alone: true, intercept: options.intercept })
    const { renewCertificates } = open
    const work = await beginWork(core, { onNewAuthorities: open.nameOwnCas, renewCertificates })
    return {
      secretReplaced: work.secretReplaced,
      databaseRestored: work.databaseRestored,
      listeners: open.listeners,
      caFile: caFileOf(config),
      renewCertificates,
      reopenAuditOutput: () => auditOutput.reopen(),
      async stop() {
        open.announceStop()
        await open.close(DRAIN)
        await work.end()
        await core.close()
      },
    }
  } catch (error) {
    await core.close()
    throw error
  }
}
