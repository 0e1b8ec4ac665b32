/**
 * Shows an administrator's generated password to the operator, once. D-49: printed only on a terminal; otherwise
 * written to a 0600 file in the home, and the output says where.
 */
import { explainSystemError, isSystemError } from '../../app/installation/file-faults.ts'
import { homeFiles } from '../../app/installation/home.ts'
import { RefusedStart, replacePrivateFile } from '../../app/installation/private-files.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { Io } from '../terminal/io.ts'
import { plain, widthOf } from '../terminal/output.ts'

export interface FirstPassword {
  /** Takes the password, and stores it if there is no terminal. */
  take(password: Secret): Promise<void>
  /** Prints what was taken, as the last lines of the output. Prints it once, and nothing if there was none. */
  show(): void
}

export function createFirstPassword(
  io: Pick<Io, 'out' | 'isTerminal'>,
  home: string,
  username = 'admin',
): FirstPassword {
  let lines: readonly string[] = []
  return {
    async take(password) {
      if (io.isTerminal) {
        const fields = [`Username   ${plain(username)}`, `Password   ${password.reveal()}`]
        lines = ['', ...boxed([...fields, '', 'The password is shown only once.'])]
        return
      }
      const { adminPassword } = homeFiles(home)
      const text = `${password.reveal()}\n`
      await replacePrivateFile(adminPassword, text, { random: systemRandom }).catch((cause) => {
        if (!isSystemError(cause)) throw cause
        throw new RefusedStart(
          `the new password of ${JSON.stringify(username)} is lost: ${explainSystemError(cause)}; correct that, and run: latchkey admin recover`,
          { cause },
        )
      })
      lines = [
        `The administrator is ${JSON.stringify(username)}; the password is in ${adminPassword}`,
      ]
    },
    show() {
      for (const line of lines) io.out(line)
      lines = []
    },
  }
}

/** For commands that print nothing after it. */
export function passwordTo(
  io: Pick<Io, 'out' | 'isTerminal'>,
  home: string,
  username?: string,
): (password: Secret) => Promise<void> {
  const first = createFirstPassword(io, home, username)
  return async (password) => {
    await first.take(password)
    first.show()
  }
}

function boxed(lines: readonly string[]): readonly string[] {
  const width = Math.max(...lines.map(widthOf))
  const rule = '─'.repeat(width + 4)
  return [
    `  ┌${rule}┐`,
    ...lines.map((line) => `  │  ${line}${' '.repeat(width - widthOf(line))}  │`),
    `  └${rule}┘`,
  ]
}
