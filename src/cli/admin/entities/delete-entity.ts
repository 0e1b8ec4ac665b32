/** `latchkey delete`, and the confirmation before actions that cannot be undone. */
import { pathOf } from '../../api/edge-api.ts'
import { openApi, type SessionValues } from '../../api/open-api.ts'
import { CommandFailed, EXIT, type ExitCode, type Io } from '../../terminal/io.ts'
import { plain, printJson } from '../../terminal/output.ts'
import type { Row } from './columns.ts'
import { findAllNamed, idOf } from './names.ts'
import type { Resource } from './resource.ts'
import { titleOf } from './write-entity.ts'

export interface ConfirmedValues extends SessionValues {
  readonly yes?: boolean
}

export async function deleteEntity(
  resource: Resource,
  names: readonly string[],
  values: ConfirmedValues,
  io: Io,
): Promise<ExitCode> {
  const api = await openApi(values, io)
  const rows = await findAllNamed(api, resource, names)
  const title = (row: Row) => plain(`${resource.one} ${titleOf(row)}`)
  await confirm(`${resource.remove} the ${rows.map(title).join(', the ')}?`, values, io)
  return forEach(rows, values, io, async (row) => {
    await api.send('DELETE', pathOf(resource.path, idOf(row)))
    return `${DONE[resource.remove] ?? 'Done'}: ${title(row)}.`
  })
}

/**
 * Does something with each of several entities, in the given order, and says so as soon as it is done. The first failure
 * ends it: what was done before has been said.
 */
export async function forEach(
  rows: readonly Row[],
  { json }: SessionValues,
  io: Io,
  act: (row: Row) => Promise<string>,
): Promise<ExitCode> {
  const done: { readonly id: string }[] = []
  try {
    for (const row of rows) {
      const said = await act(row)
      done.push({ id: idOf(row) })
      if (json !== true) io.out(said)
    }
  } finally {
    // One object for one name, as scripts expect; a list for several.
    if (json === true && done.length > 0) printJson(io, rows.length === 1 ? done[0] : done)
  }
  return EXIT.ok
}

/** Throws CommandFailed if the user declines. Without a terminal, `--yes` is required. */
export async function confirm(
  question: string,
  { yes }: { readonly yes?: boolean },
  io: Pick<Io, 'isInteractive' | 'ask'>,
): Promise<void> {
  if (yes === true) return
  if (!io.isInteractive) {
    throw new CommandFailed(
      `${question} There is no terminal to ask on. Pass --yes to confirm`,
      EXIT.usage,
    )
  }
  const answer = (await io.ask(`${question} [y/N] `)).trim().toLowerCase()
  if (answer !== 'y' && answer !== 'yes') throw new CommandFailed('nothing was done', EXIT.failed)
}

const DONE: Readonly<Record<string, string>> = {
  Delete: 'Deleted',
  Withdraw: 'Withdrawn',
  End: 'Ended',
}
