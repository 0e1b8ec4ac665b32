/** `latchkey init`: prepares a home, its database and its certificates, without starting the service. */
import { openHome } from '../../app/installation/home.ts'
import { prepare } from '../../app/installation/prepare.ts'
import { createLog } from '../../app/logging.ts'
import { certificateSource } from '../../app/server-certificates.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { describeAdjustment } from '../../config/durations.ts'
import { createGeneratedPassword } from '../home/generated-password.ts'
import { type HomeValues, readHomeOptions } from '../home/home-options.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'

export async function initHome(values: HomeValues, io: Io): Promise<ExitCode> {
  const options = readHomeOptions(values, io)
  const opened = await openHome({ ...options, purpose: 'prepare' })
  const { config, adjustments, unusedAddress, file } = opened
  const log = createLog(config.log)
  for (const adjustment of adjustments) log.warn({ ...adjustment }, describeAdjustment(adjustment))
  const password = createGeneratedPassword(io, config.home)
  const needs = { config, clock: systemClock, random: systemRandom, log }
  const { store, authorities } = await prepare({
    ...needs,
    adminPassword: options.environment.adminPassword,
    handOver: password.take,
  })
  password.show()
  try {
    for (const listener of config.listeners) {
      await certificateSource(listener, { ...needs, authorities }).load()
    }
  } finally {
    await store.close()
  }
  if (unusedAddress !== undefined) {
    const { by, from } = unusedAddress
    io.err(`${by} is not used: ${file} exists and says ${from}; change web[].bindPoints there`)
  }
  io.out(`The home ${config.home} is prepared.`)
  return EXIT.ok
}
