/** A secret that is chosen now. On a terminal nobody sees what he types, so it is typed twice; a program is asked once. */
import { CommandFailed, EXIT, type Io } from './io.ts'

/** Thrown: CommandFailed, when the two differ every time. */
export async function askNewSecret(
  io: Pick<Io, 'isInteractive' | 'askSecret' | 'err'>,
  question: string,
  /** How often somebody may mistype it. */
  tries = 1,
): Promise<string> {
  for (let left = tries; ; left -= 1) {
    const secret = await io.askSecret(question)
    if (!io.isInteractive || (await io.askSecret('Repeat it: ')) === secret) return secret
    if (left === 1) throw new CommandFailed('the two do not match', EXIT.failed)
    io.err('The two do not match.')
  }
}
