/** How much this process holds on to: what is left of its heap when nothing more can be collected. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** In bytes. Twice: what ends with the first collection frees more. */
export function heldBytes(): number {
  collect()
  collect()
  return process.memoryUsage().heapUsed
}
