/**
 * `latchkey completion`: the script for a shell to complete commands, options, files and contexts. Zsh runs that of
 * bash.
 */
import type { Command } from '../table/command.ts'
import { EXIT, type ExitCode, type Io, Misuse } from '../terminal/io.ts'
import { bash } from './bash.ts'
import { fish } from './fish.ts'

const SHELLS: Readonly<Record<string, (commands: readonly Command[]) => string>> = {
  bash,
  zsh: (commands) => `autoload -Uz bashcompinit && bashcompinit\n${bash(commands)}`,
  fish,
}

export async function printCompletion(
  commands: readonly Command[],
  shell: string,
  io: Pick<Io, 'out'>,
): Promise<ExitCode> {
  const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined
  if (script === undefined) {
    throw new Misuse(`completion is available for ${Object.keys(SHELLS).join(', ')}`)
  }
  io.out(script(commands))
  return EXIT.ok
}
