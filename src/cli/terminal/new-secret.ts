/** Prompts for a new secret. On a terminal it is not echoed, so it is typed twice; a program is asked once. */
import { CommandFailed, EXIT, type Io } from './io.ts'

/** Throws CommandFailed if the two differ every time. */
export async function askNewSecret(
  io: Pick<Io, 'isInteractive' | 'askSecret' | 'err'>,
  question: string,
  /** The number of attempts. */
  tries = 1,
): Promise<string> {
  for (let left = tries; ; left -= 1) {
    const secret = await io.askSecret(question)
    if (!io.isInteractive || (await io.askSecret('Repeat it: ')) === secret) return secret
    if (left === 1) throw new CommandFailed('the two do not match', EXIT.failed)
    io.err('The two do not match.')
  }
}
