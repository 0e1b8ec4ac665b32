/** `latchkey init`: prepares a home and its database, and stops there. */
import { openHome } from '../../app/home.ts'
import { prepare } from '../../app/prepare.ts'
import { systemClock } from '../../base/clock.ts'
import { systemRandom } from '../../base/random.ts'
import { handOverPassword } from '../first-password.ts'
import type { HomeOptions } from '../home-options.ts'
import { EXIT, type ExitCode, type Io } from '../io.ts'

export async function initHome(options: HomeOptions, io: Io): Promise<ExitCode> {
  const { config } = await openHome(options)
  const prepared = await prepare({
    config,
    adminPassword: options.environment.adminPassword,
    clock: systemClock,
    random: systemRandom,
  })
  await prepared.store.close()
  await handOverPassword(prepared.firstPassword, config.home, io)
  io.out(`The home ${config.home} is prepared.`)
  return EXIT.ok
}
