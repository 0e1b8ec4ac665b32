/**
 * What this instance tells the others about itself, in one row: that it runs, with its version and health (D-368), and
 * which endings all its processes have applied (D-381). It writes once a minute, and when endings were applied, at most
 * four times a second. Without endings it does nothing in between.
 */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { Brand } from '../../base/brand.ts'
import { formatHostPort } from '../../base/host-port.ts'
import { newId } from '../../base/ids.ts'
import { type Duration, milliseconds, seconds } from '../../base/time/duration.ts'
import { createCheckHealth } from '../../domain/health/check-health.ts'
import { createCheckWarnings } from '../../domain/health/check-warnings.ts'
import type { Instance } from '../../domain/overview/instance.ts'
import { createSampleSessions } from '../../domain/overview/session-samples.ts'
import { covers, type Position, writePosition } from '../../domain/sessions/confirming/position.ts'
import type { RepeatedWork } from '../background.ts'
import type { Core } from '../core.ts'
import { distinctInterfaces } from '../listen-places.ts'
import { serverCertificates } from './server-certificates.ts'

export interface InstancePresence {
  /** Tells the others of the start. Deletes the row that an instance with the same home and addresses left behind. */
  begin(): Promise<void>
  readonly works: readonly RepeatedWork[]
  /** Tells the others of the end. */
  end(): Promise<void>
}

type InstanceId = Brand<string, 'InstanceId'>

/** A third of the time after which others take it for gone. */
const REPORT_EVERY: Duration = seconds(60)
/** Between two writes while endings arrive; far less than the second within which an end is known everywhere (D-34). */
const CONFIRM_AFTER: Duration = milliseconds(250)
const MOST_STEPS = 32

export function createInstancePresence(
  core: Pick<Core, 'config' | 'clock' | 'random' | 'ports' | 'store' | 'build' | 'notifier'>,
  /** What the other processes of the instance have applied; undefined if one does not answer. Default: there are none. */
  appliedByOthers: () => Promise<readonly Position[] | undefined> = async () => [],
): InstancePresence {
  const { clock, config, ports, build } = core
  const { installation, instances, sessionSamples, apiSessions, events } = core.store.aside
  const { endedSessions } = ports
  const stopping = new AbortController().signal
  const checkHealth = createCheckHealth({ ...ports, installation, stopping })
  const checkWarnings = createCheckWarnings({ clock, events, notices: core.notifier })
  const sampleSessions = createSampleSessions({ clock, apiSessions, sessionSamples })
  const host = hostname()
  // Two instances in one home listen at different addresses.
  const listening = config.listeners.flatMap(distinctInterfaces).map(formatHostPort)
  let row: Instance = {
    id: newId<InstanceId>(core.random),
    place: createHash('sha256')
      .update([host, config.home, ...listening].join('\n'))
      .digest('hex'),
    host,
    version: build.version,
    revision: build.revision,
    startedAt: clock.now(),
    seenAt: clock.now(),
    failing: [],
    warnings: [],
    serverCertificates: [],
    steps: [],
  }
  let applied = ''
  let wake = (): void => {}
  let writing: Promise<void> = Promise.resolve()

  /** One after the other, so that the newest row is written last. */
  async function write(changes: Partial<Instance>): Promise<void> {
    row = { ...row, ...changes, seenAt: clock.now() }
    const written = writing.then(() => instances.replace(row))
    writing = written.catch(() => {})
    await written
  }

  async function report(): Promise<void> {
    const checks = await checkHealth()
    await write({
      failing: checks.filter(({ healthy }) => !healthy).map(({ id }) => id),
      warnings: await checkWarnings(),
      serverCertificates: await serverCertificates(config),
    })
    await sampleSessions()
  }

  /** Retries until it has confirmed what this process has applied: nothing else would wake it. */
  async function confirm(): Promise<void> {
    const position = endedSessions.position()
    const text = writePosition(position)
    if (text === applied) return
    let isConfirmed = false
    try {
      if (!(await haveOthers(position))) return
      const step = { position, at: clock.now() }
      await write({ steps: [...row.steps, step].slice(-MOST_STEPS) })
      applied = text
      isConfirmed = true
    } finally {
      if (!isConfirmed) wake()
    }
  }

  async function haveOthers(position: Position): Promise<boolean> {
    const others = await appliedByOthers()
    return others?.every((other) => includes(other, position)) ?? false
  }

  return {
    async begin() {
      await instances.removeAt(row.place)
      await write({})
      await confirm()
    },
    works: [
      { name: 'report', every: REPORT_EVERY, round: report, isUrgent: true, isOnBeat: true },
      {
        name: 'confirmations',
        every: REPORT_EVERY,
        round: confirm,
        soonAfter: CONFIRM_AFTER,
        wokenBy(soon) {
          wake = soon
          endedSessions.onPosition(soon)
          soon()
        },
      },
    ],
    end: () => instances.remove(row.id),
  }
}

/** Whether a copy has everything that another one has. */
function includes(copy: Position, other: Position): boolean {
  let from = 1
  for (const [first, last] of [...other.missing, [other.upTo + 1, other.upTo + 1] as const]) {
    if (first > from && !covers(copy, [[from, first - 1]])) return false
    from = last + 1
  }
  return true
}
