/** The `Io` of this process. */
import { resolve } from 'node:path'
import { systemClock } from '../../base/time/clock.ts'
import { AT_START } from '../../config/environment.ts'
import { createInterrupts } from './interrupts.ts'
import { EXIT, type Io } from './io.ts'
import { createStreamIo } from './stream-io.ts'

const { stdin, stdout, stderr } = process

const interrupts = createInterrupts(systemClock, () => {
  streamIo.wipe()
  process.exit(EXIT.cancelled)
})
const streamIo = createStreamIo({
  stdin,
  stdout,
  stderr,
  variables: AT_START,
  resolve: (path) => resolve(path),
  interrupts,
})

export const processIo: Io = streamIo

// Listen from the start, so that no interrupt comes before its handler (D-190). A service has its own handlers and its
// own way to stop.
process.on('SIGINT', () => {
  if (process.listenerCount('SIGINT') === 1) interrupts.interrupt()
})

/** Whether the user cancelled: then unfinished work is not awaited. */
export function wasInterrupted(): boolean {
  return interrupts.hasCome
}

// `latchkey events --follow | head -3`: the reader of our output is gone, so there is nothing left to print. A service
// keeps running until it gets a signal, whether anyone can read what it prints or not.
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    const isGone = error.code === 'EPIPE'
    // Output that is cut off must not look complete to a script.
    if (stream === stdout && !isGone) {
      stderr.write(`latchkey: the output cannot be written: ${error.message}\n`)
    }
    if (process.listenerCount('SIGTERM') > 0) return
    if (stream === stderr && !isGone) throw error
    process.exit(isGone ? EXIT.unread : EXIT.failed)
  })
}
