/** `latchkey delete`, and the confirmation before actions that cannot be undone. */
import { pathOf } from '../../api/edge-api.ts'
import { openApi, type SessionValues } from '../../api/open-api.ts'
import { CommandFailed, EXIT, type ExitCode, type Io } from '../../terminal/io.ts'
import { plain, printJson } from '../../terminal/output.ts'
import { findNamed, idOf } from './names.ts'
import type { Resource } from './resource.ts'
import { titleOf } from './write-entity.ts'

export interface ConfirmedValues extends SessionValues {
  readonly yes?: boolean
}

export async function deleteEntity(
  resource: Resource,
  name: string,
  values: ConfirmedValues,
  io: Io,
): Promise<ExitCode> {
  const api = await openApi(values, io)
  const row = await findNamed(api, resource, name)
  const what = plain(`${resource.one} ${titleOf(row)}`)
  await confirm(`${resource.remove} the ${what}?`, values, io)
  await api.send('DELETE', pathOf(resource.path, idOf(row)))
  if (values.json === true) printJson(io, { id: idOf(row) })
  else io.out(`${DONE[resource.remove] ?? 'Done'}: ${what}.`)
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
