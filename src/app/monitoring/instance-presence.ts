/**
 * What this instance tells the others about itself: that it runs, and which endings all its processes have applied
 * (D-381). It writes when endings were applied, at most four times a second, and otherwise once a minute.
 */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { Brand } from '../../base/brand.ts'
import { newId } from '../../base/ids.ts'
import { type Duration, milliseconds, seconds } from '../../base/time/duration.ts'
import { covers, type Position, writePosition } from '../../domain/sessions/confirming/position.ts'
import type { Step } from '../../domain/sessions/confirming/stores.ts'
import type { RepeatedWork } from '../background.ts'
import type { Core } from '../core.ts'

export interface InstancePresence {
  /** Tells the others of the start. What an instance left behind that ran in the same home is removed. */
  begin(): Promise<void>
  readonly work: RepeatedWork
  /** Tells the others of the end. */
  end(): Promise<void>
}

type InstanceId = Brand<string, 'InstanceId'>

const LOOK: Duration = milliseconds(250)
/** Less than a third of the time after which others take it for gone. */
const WRITE_AT_LEAST: Duration = seconds(60)
const MOST_STEPS = 32

export function createInstancePresence(
  core: Pick<Core, 'config' | 'clock' | 'random' | 'ports' | 'store'>,
  /** What the other processes of the instance have applied; undefined if one does not answer. Default: there are none. */
  appliedByOthers?: () => Promise<readonly Position[] | undefined>,
): InstancePresence {
  const { clock, ports } = core
  const { instanceRuns } = core.store.aside
  const host = hostname()
  const place = createHash('sha256').update(`${host}\n${core.config.home}`).digest('hex')
  const id = newId<InstanceId>(core.random)
  const startedAt = clock.now()
  let steps: readonly Step[] = []
  let applied = ''
  let writtenAt = clock.uptime()

  async function write(): Promise<void> {
    await instanceRuns.replace({ id, place, host, startedAt, seenAt: clock.now(), steps })
    writtenAt = clock.uptime()
  }

  async function round(): Promise<void> {
    const position = ports.endedSessions.position()
    const text = writePosition(position)
    if (text !== applied && (await haveOthers(position))) {
      steps = [...steps, { position, at: clock.now() }].slice(-MOST_STEPS)
      await write()
      applied = text
    } else if (clock.uptime() - writtenAt >= WRITE_AT_LEAST) await write()
  }

  async function haveOthers(position: Position): Promise<boolean> {
    const others = await appliedByOthers?.()
    if (appliedByOthers !== undefined && others === undefined) return false
    return (others ?? []).every((other) => includes(other, position))
  }

  return {
    async begin() {
      await instanceRuns.removeAt(place)
      await write()
      await round()
    },
    work: { name: 'instance', every: LOOK, round },
    end: () => instanceRuns.remove(id),
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
