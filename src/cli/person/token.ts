/** `latchkey token`: prints a fresh access token for another program. */
import { instant, toRfc3339 } from '../../base/time/instant.ts'
import type { SessionValues } from '../api/open-api.ts'
import { openSession } from '../contexts/open-session.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'
import { printJson } from '../terminal/output.ts'
import { withProgress } from '../terminal/waiting.ts'

export async function printToken(values: SessionValues, io: Io): Promise<ExitCode> {
  const session = await openSession(values, io)
  const accessToken = await withProgress(io, 'Refreshing', session.accessToken())
  const { expiresAt, dpopKey } = session.save()
  const tokenType = dpopKey === undefined ? 'Bearer' : 'DPoP'
  if (tokenType === 'DPoP') {
    io.err(
      'This token is bound to a key: no other program can use it. Log in without --bind for such a token.',
    )
  }
  if (values.json === true) {
    return printJson(io, { accessToken, tokenType, expiresAt: toRfc3339(instant(expiresAt)) })
  }
  io.out(accessToken)
  return EXIT.ok
}
