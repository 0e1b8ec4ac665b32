/**
 * Shows an administrator's generated password to the operator, once. D-49: printed only on a terminal; otherwise
 * written to a 0600 file in the home, and the output says where.
 */
import { rmSync } from 'node:fs'
import { writingFile } from '../../app/installation/file-faults.ts'
import { homeFiles } from '../../app/installation/home.ts'
import type { HandOver } from '../../app/installation/prepare.ts'
import { replacePrivateFile } from '../../app/installation/private-files.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import type { Io } from '../terminal/io.ts'
import { plain, widthOf } from '../terminal/output.ts'

export interface GeneratedPassword {
  /** Takes the password, has it set, and stores it before that is committed (D-330). */
  readonly take: HandOver
  /** Prints what was taken, as the last lines of the output. Prints it once, and nothing if there was none. */
  show(): void
}

export function createGeneratedPassword(
  io: Pick<Io, 'out' | 'isTerminal'>,
  home: string,
  /** `shown`: the command shows it as soon as it is set, so a terminal needs no file. */
  onTerminal: 'stored' | 'shown' = 'stored',
): GeneratedPassword {
  const { adminPassword } = homeFiles(home)
  let lines: readonly string[] = []
  /** The file is deleted when the terminal shows what is in it. */
  let isFileTemporary = false

  const store = (text: string) =>
    writingFile(adminPassword, () =>
      replacePrivateFile(adminPassword, text, { random: systemRandom }),
    )

  return {
    async take(password, set) {
      const isStored = !io.isTerminal || onTerminal === 'stored'
      const username = await set(async () => {
        if (isStored) await store(`${password.reveal()}\n`)
      })
      if (username === undefined) return
      isFileTemporary = isStored && io.isTerminal
      const fields = [`Username   ${plain(username)}`, `Password   ${password.reveal()}`]
      lines = io.isTerminal
        ? ['', ...boxed([...fields, '', 'The password is shown only once.'])]
        : [`The administrator is ${JSON.stringify(username)}; the password is in ${adminPassword}`]
    },
    show() {
      for (const line of lines) io.out(line)
      lines = []
      if (isFileTemporary) rmSync(adminPassword, { force: true })
      isFileTemporary = false
    },
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
