/**
 * `latchkey create router`: an identity of type Router with the hosts of its gateway, and the one-time token that
 * `latchkey gateway --enroll` takes. D-391.
 */
import { unlink } from 'node:fs/promises'
import { createPrivateFile, replacePrivateFile } from '../../../app/installation/private-files.ts'
import { systemRandom } from '../../../base/secrets/random.ts'
import { shellWord } from '../../../base/shell-word.ts'
import { openApi, type SessionValues } from '../../api/open-api.ts'
import type { Run } from '../../table/command.ts'
import { CommandFailed, EXIT, Misuse } from '../../terminal/io.ts'
import { plain, printJson } from '../../terminal/output.ts'
import type { Row } from '../entities/columns.ts'
import { idOf } from '../entities/names.ts'

export interface RouterValues extends SessionValues {
  readonly host?: readonly string[]
  readonly out?: string
}

export const createRouter: Run<RouterValues> = async (values, io, [name = '']) => {
  const { host: hosts, out } = values
  if (hosts === undefined)
    throw new Misuse('"create router" needs --host: where the gateway is reached')
  const api = await openApi(values, io, { optionFor: (path) => OPTIONS[path] })
  const place = out === undefined ? undefined : await reserve(io.resolve(out))
  const body = { name, type: 'Router', isAdmin: false, hosts, enrollment: { ott: true } }
  const made = await api.send('POST', '/identities', body).catch(async (error: unknown) => {
    await place?.giveUp()
    throw error
  })
  const enrollment = made['enrollment'] as Row | undefined
  const jwt = enrollment?.['jwt']
  if (typeof jwt !== 'string') {
    throw new CommandFailed(
      'the router was created, but this server has no client API to enroll at',
    )
  }
  await place?.write(`${jwt}\n`)
  if (values.json === true) return printJson(io, made)
  io.out(plain(`The router ${JSON.stringify(name)} was created: ${idOf(made)}`))
  if (out === undefined) {
    io.out('Give this token to its gateway. It works once, and is not shown again.')
    io.out('')
    io.out(jwt)
    io.out('')
  } else {
    io.out(plain(`Its one-time token is in ${out}. Copy the file to the machine of the gateway.`))
  }
  const expiresAt = enrollment?.['expiresAt']
  if (typeof expiresAt === 'string') io.out(plain(`It is valid until ${expiresAt}.`))
  const file = out === undefined ? 'FILE' : shellWord(out)
  io.err(
    plain(
      `There: latchkey gateway --enroll ${file} --listen 0.0.0.0:8443 --upstream http://127.0.0.1:3000`,
    ),
  )
  return EXIT.ok
}

const OPTIONS: Readonly<Record<string, string>> = { hosts: '--host', name: 'NAME' }

/** Before the router is created: the token is shown once. Throws CommandFailed if the path exists. */
async function reserve(path: string) {
  if (!(await createPrivateFile(path, '', { random: systemRandom }))) {
    throw new CommandFailed(`${path} exists; it is not overwritten`)
  }
  return {
    write: (text: string) => replacePrivateFile(path, text, { random: systemRandom }),
    giveUp: () => unlink(path),
  }
}
