/** `latchkey whoami`: who is logged in, as the server sees it now. */

import { instant, toRfc3339 } from '../../base/time/instant.ts'
import { wireAnswerOf } from '../../client/certificates/session-certificate.ts'
import { UnexpectedAnswer } from '../../client/client.ts'
import { asObject, jsonOf, refusalOf } from '../../client/wire/answers.ts'
import type { SessionValues } from '../api/open-api.ts'
import { openContexts } from '../contexts/contexts.ts'
import { currentContext, openSession } from '../contexts/open-session.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'
import { printFields, printJson } from '../terminal/output.ts'
import { withProgress } from '../terminal/waiting.ts'

export async function whoAmI(values: SessionValues, io: Io): Promise<ExitCode> {
  const { name: context, url } = await currentContext(openContexts(io), values.context)
  const session = await openSession({ context }, io)
  const identity = await withProgress(io, 'Asking the server', identityOf(session))
  const { amr, auth_time: at } = session.claims()
  const about = {
    context,
    url,
    identity,
    session: {
      id: session.id,
      methods: Array.isArray(amr) ? amr.map(String) : [],
      authenticatedAt: typeof at === 'number' ? toRfc3339(instant(at * 1_000)) : undefined,
      tokenExpiresAt: toRfc3339(instant(session.save().expiresAt)),
    },
  }
  if (values.json === true) return printJson(io, about)
  printFields(io, [
    ['name', identity.name],
    ['id', identity.id],
    ['administrator', identity.isAdmin],
    ['server', url],
    ['context', context],
    ['session', about.session.id],
    ['logged in', about.session.authenticatedAt],
    ['by', about.session.methods.join(', ')],
  ])
  return EXIT.ok
}

async function identityOf(session: Awaited<ReturnType<typeof openSession>>) {
  const answer = await wireAnswerOf(await session.call('/edge/client/v1/current-identity'))
  if (answer.status !== 200) throw refusalOf(answer, 'reading the identity')
  const { id, name, isAdmin } = asObject(jsonOf(answer)?.['data']) ?? {}
  if (typeof id !== 'string' || typeof name !== 'string' || typeof isAdmin !== 'boolean') {
    throw new UnexpectedAnswer('the identity cannot be read')
  }
  return { id, name, isAdmin }
}
