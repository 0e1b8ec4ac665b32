/**
 * Shows an administrator's generated password to the operator, once. D-49: printed only on a terminal; otherwise
 * written to a 0600 file in the home, and the output says where.
 */
import { rmSync } from 'node:fs'
import {
  explainSystemError,
  isSystemError,
  writingFile,
} from '../../app/installation/file-faults.ts'
import { homeFiles } from '../../app/installation/home.ts'
import { RefusedStart, readText, replacePrivateFile } from '../../app/installation/private-files.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { Io } from '../terminal/io.ts'
import { plain, widthOf } from '../terminal/output.ts'

/** Sets the password; returns false if another instance has set one. */
type SetPassword = () => Promise<boolean>

export interface FirstPassword {
  /**
   * Takes the password, and stores it if there is no terminal. A password that `set` is about to set is always stored
   * first, so that a start that is killed loses none (D-330).
   */
  take(password: Secret, set?: SetPassword): Promise<void>
  /** Prints what was taken, as the last lines of the output. Prints it once, and nothing if there was none. */
  show(): void
}

export function createFirstPassword(
  io: Pick<Io, 'out' | 'isTerminal'>,
  home: string,
  username = 'admin',
): FirstPassword {
  const { adminPassword } = homeFiles(home)
  let lines: readonly string[] = []
  /** The file is deleted when the terminal shows what is in it. */
  let isFileTemporary = false

  const write = (text: string) => replacePrivateFile(adminPassword, text, { random: systemRandom })

  /** For a password that is set already. */
  async function storeOrLose(text: string): Promise<void> {
    await write(text).catch((cause) => {
      if (!isSystemError(cause)) throw cause
      throw new RefusedStart(
        `the new password of ${JSON.stringify(username)} is lost: ${explainSystemError(cause)}; correct that, and run: latchkey admin recover`,
        { cause },
      )
    })
  }

  return {
    async take(password, set) {
      const text = `${password.reveal()}\n`
      const before = set && (await readText(adminPassword).catch(() => undefined))
      if (set !== undefined) await writingFile(adminPassword, () => write(text))
      const isSet = (await set?.()) ?? true
      // Another instance that starts in the same home may have replaced the file.
      const isStored = (await readText(adminPassword).catch(() => undefined)) === text
      if (!isSet) {
        // It may be that of the other instance, in the same home, which has announced the file by now.
        if (isStored && before !== undefined) await writingFile(adminPassword, () => write(before))
        else if (isStored) rmSync(adminPassword, { force: true })
        return
      }
      if (io.isTerminal) {
        isFileTemporary = isStored
        const fields = [`Username   ${plain(username)}`, `Password   ${password.reveal()}`]
        lines = ['', ...boxed([...fields, '', 'The password is shown only once.'])]
        return
      }
      if (!isStored) await storeOrLose(text)
      lines = [
        `The administrator is ${JSON.stringify(username)}; the password is in ${adminPassword}`,
      ]
    },
    show() {
      for (const line of lines) io.out(line)
      lines = []
      if (isFileTemporary) rmSync(adminPassword, { force: true })
      isFileTemporary = false
    },
  }
}

/** For commands that print nothing after it. */
export function passwordTo(
  io: Pick<Io, 'out' | 'isTerminal'>,
  home: string,
  username?: string,
): FirstPassword['take'] {
  const first = createFirstPassword(io, home, username)
  return async (password, set) => {
    await first.take(password, set)
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
