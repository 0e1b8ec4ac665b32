/**
 * CPU of one password hash in the server while it answers logins. Alone on the machine, a hash costs about a quarter
 * less: its memory competes with everything else for the caches (D-333).
 */
import { runLoad } from '../generator/load.ts'
import { prepareWorks } from '../generator/works.ts'
import type { CpuOperation } from '../operations.ts'
import type { Filled } from '../servers/people.ts'
import { threadPoolMicroseconds } from '../servers/processes.ts'

export async function hashMicroseconds(latchkey: Filled, milliseconds: number): Promise<number> {
  const inThreadPool = async (operation: CpuOperation) => {
    const { works, close } = await prepareWorks(latchkey, operation)
    try {
      const before = threadPoolMicroseconds(latchkey.pid)
      const { count } = await runLoad(works, milliseconds)
      return (threadPoolMicroseconds(latchkey.pid) - before) / count
    } finally {
      close()
    }
  }
  // In the thread pool, both logins sign the same tokens and sync two commits; only one of them hashes.
  return (await inThreadPool('login-password')) - (await inThreadPool('login-cert'))
}
