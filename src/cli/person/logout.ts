/** `latchkey logout`: ends the session on the server and deletes its tokens here. */
import { Refused } from '../../client/client.ts'
import { openContexts } from '../contexts/contexts.ts'
import { currentContext, openSession } from '../contexts/open-session.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'
import { withProgress } from '../terminal/waiting.ts'

export async function logOut(values: { readonly context?: string }, io: Io): Promise<ExitCode> {
  const contexts = openContexts(io)
  const { name, url } = await currentContext(contexts, values.context)
  const session = await openSession({ context: name }, io)
  try {
    await withProgress(io, 'Logging out', session.logout())
  } catch (error) {
    // If the server does not know the session, there is nothing to end. Without a response, keep the tokens for a
    // retry.
    if (!(error instanceof Refused)) throw error
    await contexts.forgetCredentials(name)
  }
  io.out(`Logged out of ${url}, context ${name}.`)
  return EXIT.ok
}
