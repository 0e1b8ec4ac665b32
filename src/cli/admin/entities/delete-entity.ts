/** `latchkey delete`, and the confirmation before actions that cannot be undone. */
import { type EdgeApi, pathOf } from '../../api/edge-api.ts'
import { openApi, type SessionValues } from '../../api/open-api.ts'
import { CommandFailed, EXIT, type ExitCode, type Io } from '../../terminal/io.ts'
import { plain, printJson } from '../../terminal/output.ts'
import { askForProof, secondsOf, type WaitValues } from '../sessions/confirmations.ts'
import type { Row } from './columns.ts'
import { findAllNamed, idOf } from './names.ts'
import type { Resource } from './resource.ts'
import { titleOf } from './write-entity.ts'

export interface ConfirmedValues extends SessionValues, WaitValues {
  readonly yes?: boolean
}

export async function deleteEntity(
  resource: Resource,
  names: readonly string[],
  values: ConfirmedValues,
  io: Io,
): Promise<ExitCode> {
  secondsOf(values)
  const api = await openApi(values, io)
  const rows = await findAllNamed(api, resource, names)
  const title = (row: Row) => plain(`${resource.one} ${titleOf(row)}`)
  await confirm(`${resource.remove} the ${rows.map(title).join(', the ')}?`, values, io)
  return forEach(api, rows, values, io, async (row) => {
    await api.send('DELETE', pathOf(resource.path, idOf(row)))
    return `${DONE[resource.remove] ?? 'Done'}: ${title(row)}.`
  })
}

/**
 * Does something with each of several entities, in the given order, and says so as soon as it is done. The first failure
 * ends it: what was done before has been said. With `--wait`, it also says who has confirmed it.
 */
export async function forEach(
  api: Pick<EdgeApi, 'takeEnding' | 'get'>,
  rows: readonly Row[],
  values: SessionValues & WaitValues,
  io: Io,
  act: (row: Row) => Promise<string>,
): Promise<ExitCode> {
  const { json } = values
  const seconds = secondsOf(values)
  const done: { readonly id: string; readonly confirmations?: Row | null }[] = []
  let isConfirmed = true
  try {
    for (const row of rows) {
      const said = await act(row)
      if (json !== true) io.out(said)
      if (seconds === undefined) {
        done.push({ id: idOf(row) })
        continue
      }
      const proof = await askForProof(api, seconds)
      done.push({ id: idOf(row), confirmations: proof.confirmations })
      isConfirmed &&= proof.isConfirmed
      if (json !== true) for (const line of proof.lines) io.out(line)
    }
  } finally {
    // One object for one name, as scripts expect; a list for several.
    if (json === true && done.length > 0) printJson(io, rows.length === 1 ? done[0] : done)
  }
  return isConfirmed ? EXIT.ok : EXIT.unconfirmed
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
