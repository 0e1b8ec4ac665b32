/** Counts the intervals of this process that are running, also those inside Node, which mocked timers do not see. */
import { createHook } from 'node:async_hooks'
import type { TestContext } from 'node:test'

/** Returns a function that returns how many of the intervals that began after this call are running. */
export function watchIntervals(t: TestContext): () => number {
  const running = new Set<number>()
  const hook = createHook({
    init(id, type, _, timer: { readonly _repeat?: number | null }) {
      if (type === 'Timeout' && typeof timer._repeat === 'number') running.add(id)
    },
    destroy: (id) => running.delete(id),
  })
  hook.enable()
  t.after(() => hook.disable())
  return () => running.size
}
