/** `latchkey context list`, `use` and `remove`. */
import { openContexts } from '../contexts/contexts.ts'
import type { Run } from '../table/command.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'
import { printJson, printTable } from '../terminal/output.ts'

export async function listContexts(values: { readonly json?: boolean }, io: Io): Promise<ExitCode> {
  const contexts = openContexts(io)
  const { current, contexts: known } = await contexts.list()
  const rows = await Promise.all(
    known.map(async ({ name, url }) => ({
      name,
      url,
      isCurrent: name === current,
      isLoggedIn: (await contexts.credentials(name)) !== undefined,
    })),
  )
  if (values.json === true) return printJson(io, rows)
  if (rows.length === 0) io.err('There is no context yet; run: latchkey login --url URL')
  else {
    printTable(io, rows, [
      { title: 'CURRENT', value: ({ isCurrent }) => (isCurrent ? '*' : ' ') },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'SERVER', value: ({ url }) => url },
      { title: 'LOGGED IN', value: ({ isLoggedIn }) => isLoggedIn },
    ])
  }
  return EXIT.ok
}

export const useContext: Run<object> = async (_values, io, [name = '']) => {
  await openContexts(io).use(name)
  io.out(`Switched to context "${name}".`)
  return EXIT.ok
}

export const removeContext: Run<object> = async (_values, io, [name = '']) => {
  const contexts = openContexts(io)
  await contexts.find(name)
  const wasLoggedIn = (await contexts.credentials(name).catch(() => undefined)) !== undefined
  await contexts.exclusively(name, () => contexts.remove(name))
  io.out(`The context ${name} was removed.`)
  if (wasLoggedIn)
    io.err(
      'Its session stays valid on the server until it expires; "latchkey logout" would have ended it.',
    )
  return EXIT.ok
}
