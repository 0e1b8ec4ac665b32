/**
 * Waits for a server. On a terminal, prints a progress line after one second; to a program it prints nothing. Ctrl-C
 * cancels the wait (D-190).
 */
import { CommandFailed, EXIT, type Io } from './io.ts'

const PATIENCE_MILLISECONDS = 1_000
const FRAMES = ['|', '/', '-', '\\']

/** Returns what `work` returns. Throws what `work` throws, and CommandFailed if the user cancels. */
export async function withProgress<T>(
  io: Pick<Io, 'progress' | 'onInterrupt'>,
  what: string,
  work: Promise<T>,
): Promise<T> {
  const interrupted = Promise.withResolvers<never>()
  const stopListening = io.onInterrupt(() => {
    interrupted.reject(new CommandFailed('given up', EXIT.cancelled))
  })
  let turn = 0
  const show = () => io.progress(`${what} ${FRAMES[turn++ % FRAMES.length]}`)
  const timer = setInterval(show, PATIENCE_MILLISECONDS)
  try {
    return await Promise.race([work, interrupted.promise])
  } finally {
    stopListening()
    clearInterval(timer)
    if (turn > 0) io.progress(undefined)
  }
}
