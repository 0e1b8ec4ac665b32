/** What `latchkey trust` needs of the machine. Passed in, so that tests never touch a real trust store. */
import { spawn } from 'node:child_process'
import { access, constants, readdir } from 'node:fs/promises'
import { homedir, platform } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { childEnvironment } from '../../config/environment.ts'
import type { Io } from '../terminal/io.ts'

export interface Machine {
  readonly platform: NodeJS.Platform
  /** The home folder of the user, not of the service. */
  readonly userHome: string
  readonly isRoot: boolean
  exists(path: string): Promise<boolean>
  /** The names in a folder; none if there is no such folder. */
  list(folder: string): Promise<readonly string[]>
  /** Whether a program is on the PATH. */
  has(program: string): Promise<boolean>
  /** Runs a command without a shell. Returns whether it succeeded, and what it printed. */
  run(command: readonly string[]): Promise<{ readonly ok: boolean; readonly output: string }>
}

export function thisMachine(variables: Io['variables']): Machine {
  const { PATH: path = '', HOME: userHome = homedir() } = variables
  const canUse = (file: string, mode: number) =>
    access(file, mode).then(
      () => true,
      () => false,
    )
  return {
    platform: platform(),
    userHome,
    isRoot: process.getuid?.() === 0,
    exists: (file) => canUse(file, constants.F_OK),
    list: (folder) => readdir(folder).catch(() => []),
    async has(program) {
      const names = platform() === 'win32' ? [`${program}.exe`] : [program]
      const files = path
        .split(delimiter)
        .flatMap((folder) => names.map((name) => join(folder, name)))
      for (const file of files) if (await canUse(file, constants.X_OK)) return true
      return false
    },
    async run([program = '', ...args]) {
      const child = spawn(program, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: childEnvironment({ PATH: path }),
      })
      const ended = new Promise<boolean>((resolve) => {
        child.once('error', () => resolve(false))
        child.once('close', (code) => resolve(code === 0))
      })
      const [ok, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
      return { ok, output: `${out}${err}`.trim() }
    },
  }
}
