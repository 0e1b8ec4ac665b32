/** `latchkey logout`: ends the session on the server and deletes its tokens here. */
import { Refused } from '../../client/client.ts'
import { askWithoutSession, secondsOf, type WaitValues } from '../admin/sessions/confirmations.ts'
import { openAnonymous } from '../api/open-anonymous.ts'
import { openContexts } from '../contexts/contexts.ts'
import { currentContext, openSession } from '../contexts/open-session.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'
import { withProgress } from '../terminal/waiting.ts'

export async function logOut(
  values: { readonly context?: string } & WaitValues,
  io: Io,
): Promise<ExitCode> {
  const seconds = secondsOf(values)
  const contexts = openContexts(io)
  const { name, url } = await currentContext(contexts, values.context)
  const session = await openSession({ context: name }, io)
  const anonymous = await openAnonymous({ context: name }, io)
  let ending: string | undefined
  try {
    ending = await withProgress(io, 'Logging out', session.logout())
  } catch (error) {
    // If the server does not know the session, there is nothing to end. Without a response, keep the tokens for a
    // retry.
    if (!(error instanceof Refused)) throw error
    await contexts.forgetCredentials(name)
  }
  io.out(`Logged out of ${url}, context ${name}.`)
  if (seconds === undefined) return EXIT.ok
  const { lines, isConfirmed } = await askWithoutSession(anonymous, ending, seconds)
  for (const line of lines) io.out(line)
  return isConfirmed ? EXIT.ok : EXIT.unconfirmed
}
