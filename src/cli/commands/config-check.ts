/** `latchkey config check`: reports what a start would say about the configuration, without starting. */
import { join } from 'node:path'
import { modeProblems } from '../../app/installation/home.ts'
import { exists } from '../../app/installation/private-files.ts'
import { usingHome } from '../../app/installation/unusable-home.ts'
import { checkGivenCertificates } from '../../app/server-certificates.ts'
import { shellWord } from '../../base/shell-word.ts'
import { systemClock } from '../../base/time/clock.ts'
import { describeAdjustment } from '../../config/durations.ts'
import { CONFIG_FILE, loadConfig } from '../../config/load.ts'
import { type HomeValues, readHomeOptions } from '../home/home-options.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'

export async function checkConfig(values: HomeValues, io: Io): Promise<ExitCode> {
  const { home, file, environment } = readHomeOptions(values, io)
  if (file === undefined && !(await usingHome(home, () => exists(join(home, CONFIG_FILE))))) {
    io.err(`${join(home, CONFIG_FILE)} has one problem:\n  there is no such file`)
    io.err(`To create it: latchkey init --home ${shellWord(home)}`)
    return EXIT.config
  }
  const { address } = environment
  const { config, adjustments, override } = await loadConfig({
    home,
    environment,
    wanted: address === undefined ? undefined : { address, port: undefined },
    file,
  })
  if (override !== undefined) {
    const { by, from, to, listener } = override
    io.out(`${by} replaces ${from} of listener ${listener} with ${to}`)
  }
  for (const adjustment of adjustments) io.out(describeAdjustment(adjustment))
  const modes = await usingHome(home, () => modeProblems(config))
  if (modes.length > 0) return refused(modes, io)
  const { problems, notes } = await usingHome(home, () =>
    checkGivenCertificates(config.listeners, systemClock),
  )
  if (problems.length > 0) return refused(problems, io)
  for (const note of notes) io.out(note)
  io.out(
    adjustments.length === 0
      ? 'The configuration is valid.'
      : 'The configuration is valid, with the adjustments above.',
  )
  return EXIT.ok
}

function refused(problems: readonly string[], io: Io): ExitCode {
  for (const problem of problems) io.err(`latchkey: ${problem}`)
  return EXIT.failed
}
