/**
 * `latchkey ca verify` and `ca token`: prove that the operator holds the key of a third-party CA; `ca jwt`: the
 * invitation for every holder of a certificate of it. API 3.3, 4.6; D-132.
 */
import { pathOf } from '../api/edge-api.ts'
import { openApi, type SessionValues } from '../api/open-api.ts'
import type { Run } from '../table/command.ts'
import { CommandFailed, EXIT, type ExitCode, type Io, Misuse } from '../terminal/io.ts'
import { plain, printJson } from '../terminal/output.ts'
import { findNamed, idOf } from './entities/names.ts'
import { resourceOf } from './entities/resources.ts'
import { titleOf } from './entities/write-entity.ts'
import { readGiven } from './given-files.ts'

const CAS = resourceOf('ca')

export async function verifyCa(
  values: SessionValues & { readonly cert?: string },
  io: Io,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  if (values.cert === undefined) throw new Misuse('"ca verify" needs --cert')
  const certificate = await readGiven(values.cert, io)
  const api = await openApi(values, io)
  const ca = await findNamed(api, CAS, name)
  await api.sendText(pathOf(CAS.path, idOf(ca), 'verify'), certificate)
  if (values.json === true) printJson(io, { id: idOf(ca) })
  else io.out(plain(`The CA ${titleOf(ca)} is verified.`))
  return EXIT.ok
}

export const showToken: Run<SessionValues> = async (values, io, [name = '']) => {
  const api = await openApi(values, io)
  const ca = await findNamed(api, CAS, name)
  const { verificationToken: token } = ca
  if (typeof token !== 'string') {
    throw new CommandFailed(plain(`the CA ${titleOf(ca)} is verified already`), EXIT.conflict)
  }
  if (values.json === true) printJson(io, { id: idOf(ca), verificationToken: token })
  else io.out(plain(token))
  return EXIT.ok
}

export const showJwt: Run<SessionValues> = async (values, io, [name = '']) => {
  const api = await openApi(values, io)
  const ca = await findNamed(api, CAS, name)
  const jwt = (await api.getText(pathOf(CAS.path, idOf(ca), 'jwt'))).trim()
  if (values.json === true) printJson(io, { id: idOf(ca), jwt })
  else io.out(plain(jwt))
  return EXIT.ok
}
