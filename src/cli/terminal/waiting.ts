/**
 * Waiting for a server: says what goes on when it takes longer than a second, on a terminal; a program is told nothing.
 * Ctrl-C gives it up (D-190).
 */
import { CommandFailed, EXIT, type Io } from './io.ts'

const PATIENCE_MILLISECONDS = 1_000
const FRAMES = ['|', '/', '-', '\\']

/** What `work` returns. Thrown: what `work` throws, and CommandFailed when a person gives it up. */
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
