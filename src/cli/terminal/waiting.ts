/** Says what goes on when something takes longer than a second, on a terminal; a program is told nothing. */
import type { Io } from './io.ts'

const PATIENCE_MILLISECONDS = 1_000
const FRAMES = ['|', '/', '-', '\\']

export async function withProgress<T>(
  io: Pick<Io, 'progress'>,
  what: string,
  work: Promise<T>,
): Promise<T> {
  let turn = 0
  const show = () => io.progress(`${what} ${FRAMES[turn++ % FRAMES.length]}`)
  const timer = setInterval(show, PATIENCE_MILLISECONDS)
  try {
    return await work
  } finally {
    clearInterval(timer)
    if (turn > 0) io.progress(undefined)
  }
}
