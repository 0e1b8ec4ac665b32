/** How somebody is asked for a username and a new password: twice without an echo on a terminal, else a line for each. */
import type { NewPassword, NewPasswordAsk } from '../../client/client.ts'
import type { Io } from '../terminal/io.ts'
import { askNewSecret } from '../terminal/new-secret.ts'

/** How often the two may differ before it is given up. */
export const TRIES = 3

/** For `enroll`. It throws what was refused, when nobody is there who could say something else. */
export function askingPassword(
  /** Whose password it will be: whoever made the invitation says which server it is, and it may be none that one knows. */
  url: string,
  /** A username that was said before, and is not asked for. */
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
