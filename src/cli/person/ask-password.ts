/** Asks for a username and a new password: twice without echo on a terminal, else one line each. */
import type { NewPassword, NewPasswordAsk } from '../../client/client.ts'
import type { Io } from '../terminal/io.ts'
import { askNewSecret } from '../terminal/new-secret.ts'

/** How often the two may differ. */
export const TRIES = 3

/** For `enroll`. Throws the refusal if there is no terminal on which the user could correct it. */
export function askingPassword(
  /** The server, shown with the question: the invitation names it, and the user may not know it. */
  url: string,
  /** A username that was given as an option, and is not asked for. */
  given: string | undefined,
  io: Io,
): (ask: NewPasswordAsk) => Promise<NewPassword> {
  let username = given
  return async ({ attempt, refused, wrong }) => {
    if (attempt === 1 && io.isInteractive) io.err(`Choose a password for ${url}`)
    if (refused !== undefined) {
      if (!io.isInteractive) throw refused
      io.err(`${refused.message[0]?.toUpperCase()}${refused.message.slice(1)}.`)
    }
    if (username === undefined || wrong === 'username') {
      username = (await io.ask('Username: ')).trim()
    }
    return { username, password: await askNewSecret(io, 'New password: ', TRIES) }
  }
}
