/** `latchkey migrate-store`: everything from one database into another, SQLite to PostgreSQL or back (D-160). */
import { resolve } from 'node:path'
import { systemRandom } from '../../base/secrets/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { auditPorts } from '../../domain/audit/ports.ts'
import { recordEvent } from '../../domain/audit/record.ts'
import type { StoreAddress } from '../../store/open.ts'
import { type Moved, moveWhole } from '../../store/whole/move-whole.ts'
import { OccupiedDatabase } from '../../store/whole/write-whole.ts'
import { exists, RefusedStart, refuseWorldReadable } from '../installation/private-files.ts'

export type { Moved, StoreAddress }

export async function moveStore(
  from: StoreAddress,
  to: StoreAddress,
  onRows: (done: number, total: number) => void,
): Promise<Moved> {
  if (addressOf(from) === addressOf(to)) {
    throw new RefusedStart('both databases are the same')
  }
  for (const address of [from, to]) {
    if (address.kind === 'sqlite') await refuseWorldReadable(address.path)
  }
  // Opening a database would create it.
  if (from.kind === 'sqlite' && !(await exists(from.path))) {
    throw new RefusedStart(`there is no database ${from.path}`)
  }
  const audit = auditPorts({ clock: systemClock, random: systemRandom })
  try {
    return await moveWhole(from, to, {
      onRows,
      async record({ events }, { from, to }) {
        const happening = { type: 'installation.moved', details: { from, to } } as const
        await events.insert(recordEvent(audit, undefined, happening))
      },
    })
  } catch (error) {
    if (!(error instanceof OccupiedDatabase)) throw error
    throw new RefusedStart(error.message, { cause: error })
  }
}

function addressOf(address: StoreAddress): string {
  return address.kind === 'sqlite' ? resolve(address.path) : address.url.reveal()
}
