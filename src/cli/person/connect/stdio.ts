/** Carries standard input and output through a tunnel, as an SSH ProxyCommand does. */
import type { Tunnel } from '../../../client/gateway/tunnel.ts'
import type { Io } from '../../terminal/io.ts'

/** Resolves to `end` when the service has ended in an orderly way, to `cut` otherwise. */
export function carryStandardStreams(
  { input, output }: Io['bytes'],
  { stream, reset }: Tunnel,
): Promise<'end' | 'cut'> {
  return new Promise((resolve) => {
    output.once('error', () => {
      // The program that started us is gone.
      reset()
      resolve('end')
    })
    stream.once('end', () => {
      stream.end()
      // What the service sent last must be written before this process exits.
      output.write('', () => resolve('end'))
    })
    stream.once('close', () => resolve('cut'))
    input.pipe(stream)
    stream.pipe(output, { end: false })
  })
}
