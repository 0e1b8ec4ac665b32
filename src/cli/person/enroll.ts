/**
 * `latchkey enroll`: the JWT of an invitation becomes an identity file, good for `latchkey login --identity` and for a
 * gateway. D-126. The place of the file is taken before the token is spent, which works once.
 */
import { unlink } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createPrivateFile, replacePrivateFile } from '../../app/private-files.ts'
import { instant, toRfc3339 } from '../../base/instant.ts'
import { systemRandom } from '../../base/random.ts'
import { type Enrolled, enroll } from '../../client/client.ts'
import { textOf } from '../certificate-files.ts'
import { CommandFailed, EXIT, type ExitCode, type Io, Misuse } from '../io.ts'
import { printFields, printJson } from '../output.ts'
import { withProgress } from '../waiting.ts'
import { checkCa } from './server-trust.ts'

export async function enrollIdentity(
  values: { readonly out?: string; readonly ca?: string; readonly json?: boolean },
  io: Io,
  [token = '-']: readonly string[],
): Promise<ExitCode> {
  if (values.out === undefined) throw new Misuse('"enroll" needs --out')
  const out = resolve(values.out)
  const ca = values.ca === undefined ? {} : { ca: checkCa(await textOf(values.ca), values.ca) }
  const jwt = (token === '-' ? await io.askSecret('Token (JWT): ') : await textOf(token)).trim()

  if (!(await createPrivateFile(out, '', { random: systemRandom }))) {
    throw new CommandFailed(`${out} exists; an identity is never overwritten`)
  }
  const {
    url,
    identityId: id,
    ...got
  } = await withProgress(io, 'Enrolling', spend(jwt, ca)).catch(async (error: unknown) => {
    await unlink(out)
    throw error
  })
  const { cert, key } = got.credential
  const text = `${JSON.stringify({ id, url, ca: got.ca, cert, key }, undefined, 2)}\n`
  await replacePrivateFile(out, text, { random: systemRandom })

  const validTo = toRfc3339(instant(got.validTo.getTime()))
  if (values.json === true) printJson(io, { id, url, file: out, validTo })
  else {
    printFields(io, [
      ['identity', id],
      ['server', url],
      ['file', out],
      ['valid until', validTo],
    ])
    io.err(`To log in with it: latchkey login --identity ${values.out}`)
  }
  return EXIT.ok
}

async function spend(jwt: string, options: { readonly ca?: string }): Promise<Enrolled> {
  try {
    return await enroll(jwt, options)
  } catch (error) {
    if (error instanceof TypeError) throw new CommandFailed(error.message, EXIT.data)
    throw error
  }
}
