/** Calls the client API without a credential: for what can be asked after the caller's own session has ended (D-382). */
import { responseOf, sendCall } from '../../client/api-call.ts'
import { createWire, TIMEOUT_MILLISECONDS } from '../../client/wire/https-wire.ts'
import { openContexts } from '../contexts/contexts.ts'
import { currentContext, notLoggedIn } from '../contexts/open-session.ts'
import type { Io } from '../terminal/io.ts'
import { withProgress } from '../terminal/waiting.ts'
import { createEdgeApi, type EdgeApi } from './edge-api.ts'
import type { SessionValues } from './open-api.ts'

/** Reads the context, so call it before the session ends. Throws CommandFailed if there is no login. */
export async function openAnonymous(values: SessionValues, io: Io): Promise<Pick<EdgeApi, 'get'>> {
  const contexts = openContexts(io)
  const { name } = await currentContext(contexts, values.context)
  const found = await contexts.credentials(name)
  if (found === undefined) throw notLoggedIn(name)
  const { url, api = url, ca } = found.session
  const wire = createWire({ ca, certificate: undefined, timeoutMilliseconds: TIMEOUT_MILLISECONDS })
  const call = async (path: string) =>
    responseOf(await withProgress(io, 'Waiting for confirmations', sendOver(path)))
  const sendOver = (path: string) => sendCall(wire, new URL(api), path, {}, {})
  return createEdgeApi({ call }, 'client')
}
