/**
 * Where the pages for SDK authors are pasted: a folder with the home of a service that runs in this process, by a clock
 * that the pages can wait for.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { TestClock } from '../clocks/clock.ts'
import { ADMIN, startService, temporaryFolder } from '../service.ts'
import type { GuideOptions } from './guide.ts'
import { pathWithClock } from './guide-clock.ts'

export interface SdkStage {
  /** For a page without the address of the service. */
  readonly pasted: GuideOptions
  /** For a page that says `localhost:1280`, or shows it. */
  readonly atAddress: GuideOptions
  readonly clock: TestClock
}

export async function prepareSdkStage(t: TestContext): Promise<SdkStage> {
  const folder = await temporaryFolder(t)
  const home = join(folder, 'latchkey-data')
  await mkdir(home, { mode: 0o700 })
  const service = await startService(t, { home })
  const pasted = {
    cwd: folder,
    // The command line keeps its login there, from one page to the next.
    environment: { HOME: folder, PATH: await pathWithClock(t, service.clock) },
    typed: `${ADMIN.password}\n`,
  }
  // The port alone: inside another address its colon is escaped.
  const atAddress = { ...pasted, replace: { '1280': new URL(service.baseUrl).port } }
  return { pasted, atAddress, clock: service.clock }
}
