/**
 * `latchkey create` and `latchkey update`: turn the options into a body for the API. An update is a PATCH: fields that
 * are not named keep their values. Enrollment tokens are printed, because they cannot be shown again.
 */
import { type EdgeApi, pathOf } from '../../api/edge-api.ts'
import { openApi, type SessionValues } from '../../api/open-api.ts'
import { EXIT, type ExitCode, type Io, Misuse } from '../../terminal/io.ts'
import { plain, printJson } from '../../terminal/output.ts'
import { readGiven, readJson, readSecret } from '../given-files.ts'
import { showInvitation } from '../invitation.ts'
import type { Row } from './columns.ts'
import { type Body, bodyOf, type Field, type OptionValues, optionFor } from './fields.ts'
import { findNamed, idOf, idOfNamed } from './names.ts'
import type { Change, Creation, Resource } from './resource.ts'

export interface WriteValues extends SessionValues {
  readonly body?: string
  readonly qr?: boolean
}

export async function createEntity(
  resource: Resource,
  { fields, defaults, propose, complete, isNamed }: Creation,
  name: string | undefined,
  values: WriteValues,
  io: Io,
): Promise<ExitCode> {
  if (isNamed && name === undefined && values.body === undefined) {
    throw new Misuse(`"create ${resource.one}" needs a NAME`)
  }
  const api = await openApi(values, io, { optionFor: (path) => optionFor(fields, path) })
  const whole = values.body === undefined ? undefined : await readJson(values.body, io)
  const given = {
    ...(name === undefined ? {} : { name }),
    ...(await bodyOf(fields, values as OptionValues, readersOf(api, io))),
  }
  const proposed = await propose?.(api, values as OptionValues)
  const own: Body = { ...(whole ?? defaults), ...proposed, ...given }
  // If the user passes a body, options only add what it lacks.
  const body =
    complete === undefined || whole !== undefined ? own : complete(own, values as OptionValues)
  const made = await api.send('POST', resource.path, body)
  if (values.json === true) return printJson(io, made)
  const called = typeof body['name'] === 'string' ? ` ${JSON.stringify(body['name'])}` : ''
  io.out(plain(`The ${resource.one}${called} was created: ${idOf(made)}`))
  showInvitation(io, made, values)
  return EXIT.ok
}

export async function updateEntity(
  resource: Resource,
  { fields, call, needsNothing }: Change,
  name: string,
  values: WriteValues,
  io: Io,
): Promise<ExitCode> {
  const { api, body } = await openChange(fields, values, io)
  if (Object.keys(body).length === 0 && needsNothing === undefined) {
    throw new Misuse(
      `there is nothing to change: "update ${resource.one}" needs an option that says what`,
    )
  }
  const row = await findNamed(api, resource, name)
  const path = pathOf(resource.path, idOf(row), call?.action)
  const changed = await api.send(call?.method ?? 'PATCH', path, body)
  if (values.json === true) return printJson(io, changed)
  io.out(plain(`The ${resource.one} ${titleOf(row)} is changed.`))
  showInvitation(io, changed, values)
  return EXIT.ok
}

/** Opens the API, and reads what `--body` and the options of these fields change. */
export async function openChange(fields: readonly Field[], values: WriteValues, io: Io) {
  const api = await openApi(values, io, { optionFor: (path) => optionFor(fields, path) })
  const whole = values.body === undefined ? {} : await readJson(values.body, io)
  const given = await bodyOf(fields, values as OptionValues, readersOf(api, io))
  const body: Body = { ...whole, ...given }
  return { api, body }
}

/** The name and the id. */
export function titleOf(row: Row): string {
  const name = row['name'] ?? row['username'] ?? (row['identity'] as Row | undefined)?.['name']
  return typeof name === 'string' ? `${JSON.stringify(name)} (${idOf(row)})` : idOf(row)
}

function readersOf(api: EdgeApi, io: Io) {
  return {
    readFile: (path: string) => readGiven(path, io),
    readSecret: (path: string) => readSecret(path, io),
    idOf: (resource: Parameters<typeof idOfNamed>[1], name: string) =>
      idOfNamed(api, resource, name),
  }
}
