/** `latchkey migrate-store`: moves everything to another database (D-160). It needs no home and no secret. */
import { moveStore, type StoreAddress } from '../../app/backup/move.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { systemClock } from '../../base/time/clock.ts'
import { isPostgresUrl, readPostgresUrl } from '../../base/urls/postgres-url.ts'
import { EXIT, type ExitCode, type Io, Misuse } from '../terminal/io.ts'
import { createProgress } from '../terminal/progress.ts'

export async function migrateStore(
  values: { readonly from?: string; readonly to?: string },
  io: Io,
): Promise<ExitCode> {
  const source = readAddress('from', values.from, io)
  const target = readAddress('to', values.to, io)
  const progress = createProgress('Moving', systemClock, io.errorStream)
  const { from, to, rows } = await moveStore(source, target, progress.tell).finally(progress.end)
  io.out(`Everything in ${from} (${rows} rows) is in ${to} now.`)
  io.out('Set "db" to the new database everywhere. The service no longer starts on the old one.')
  return EXIT.ok
}

/** Put its password into PGPASSWORD: other users of the machine can see arguments. */
function readAddress(
  name: 'from' | 'to',
  given: string | undefined,
  io: Pick<Io, 'resolve'>,
): StoreAddress {
  if (given === undefined) throw new Misuse(`"migrate-store" needs --${name}`)
  if (isPostgresUrl(given)) {
    const reading = readPostgresUrl(given)
    if (!reading.ok) throw new Misuse(`--${name} ${reading.problem}`)
    return { kind: 'postgres', url: new Secret(given) }
  }
  const path = /^sqlite:(.+)$/.exec(given)?.[1]
  // SQLite interprets these; they are not files.
  if (path !== undefined && !/^:|^file:/.test(path))
    return { kind: 'sqlite', path: io.resolve(path) }
  throw new Misuse(`--${name} is neither sqlite:PATH nor postgres://…`)
}
