/**
 * `latchkey demo`: everything at once in a temporary folder, and the commands to try it with. Only this file may import
 * from `demo/`. docs/demo.md.
 */
import { systemClock } from '../../base/time/clock.ts'
import { startDemo } from '../../demo/start.ts'
import { walkthroughOf } from '../../demo/walkthrough.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'
import { readPort } from '../terminal/read-port.ts'
import { listenForSignals } from '../terminal/signals.ts'
import { withProgress } from '../terminal/waiting.ts'

export async function runDemo(values: { readonly port?: string }, io: Io): Promise<ExitCode> {
  const port = readPort(values.port)
  const look = {
    heading: (text: string) => (io.hasColour ? `\x1b[1m${text}\x1b[22m` : text),
    line: (text: string) => (io.hasColour ? `\x1b[36m${text}\x1b[39m` : text),
  }
  const signals = listenForSignals(systemClock)
  const stopping = new AbortController()
  void signals.stop.then(() => stopping.abort())

  io.out(look.heading('Latchkey demo.'))
  io.out('Only this machine can reach it, its passwords are new at each start, and everything')
  io.out('is deleted when it ends. Do not use it for anything important.')
  io.out('')
  const starting = startDemo({ port, signal: stopping.signal })
  try {
    const demo = await withProgress(io, 'Starting', starting)
    try {
      const { lines, files } = walkthroughOf(demo, look)
      for (const [name, text] of Object.entries(files)) await demo.folder.write(name, text)
      // With the passwords, even if the output is not a terminal (D-172).
      for (const line of lines) io.out(line)
      await signals.stop
    } finally {
      await demo.stop()
    }
  } catch (error) {
    if (!stopping.signal.aborted) throw error
  }
  io.err('The demo has ended; its folder is removed.')
  return EXIT.ok
}
