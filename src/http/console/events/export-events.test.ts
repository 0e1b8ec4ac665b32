/** A download of the audit log ends with the session that began it. D-490. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts'
import { fakePorts } from '../../../../test/support/fake-ports.ts'
import type { ApiSessionId, EventId } from '../../../base/ids.ts'
import type { RecordedEvent } from '../../../domain/audit/recorded-event.ts'
import { BATCH_ROWS } from '../../../domain/paging.ts'
import { CLOCK_JUMP, endingOf } from '../../../domain/sessions/api-session.ts'
import { createEndedSessions } from '../../../domain/sessions/ending/ended-sessions.ts'
import type { ConsolePorts } from '../ports.ts'
import { exportEvents, JSON_LINES } from './export-events.ts'

const SESSION = { sessionId: 'session-1' as ApiSessionId }
const clock = new ManualClock()

// Attack: an administrator who is about to be removed reads a download slowly, and gets the audit log for hours.
for (const [when, isForgotten] of [
  ['when its session ends', false],
  ['also for a client that pauses until the ending is forgotten', true],
] as const) {
  test(`cuts the download ${when}`, async () => {
    const rows = Array.from({ length: BATCH_ROWS }, (_, n) => event(n))
    let batches = 0
    const endedSessions = createEndedSessions({
      clock,
      sessionEndings: { listAfter: async () => [] },
    })
    const answer = exportEvents(
      fakePorts<ConsolePorts>({
        clock,
        events: {
          async list() {
            batches += 1
            return { rows, totalCount: BATCH_ROWS * 10 }
          },
        },
        endedSessions,
      }),
      SESSION,
      { person: '', actor: '', type: '', from: undefined, until: undefined },
      JSON_LINES,
    )
    assert.ok(answer.content?.kind === 'lines')
    const reading = answer.content.lines[Symbol.asyncIterator]()
    assert.equal((await reading.next()).done, false)
    endedSessions.add(endingOf(SESSION.sessionId, clock.now(), clock.now()))
    if (isForgotten) {
      clock.pass(CLOCK_JUMP)
      await endedSessions.refresh()
      assert.equal(endedSessions.has(SESSION.sessionId), false)
    }
    await assert.rejects(async () => {
      while ((await reading.next()).done !== true) assert.ok(batches < 5, 'it goes on')
    }, /the session of a download has ended/)
  })
}

function event(n: number): RecordedEvent {
  return { id: `event-${n}` as EventId, at: clock.now(), type: 'login.failed' } as RecordedEvent
}
