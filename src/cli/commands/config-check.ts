/** `latchkey config check`: reports what a start would say about the configuration, without starting. */
import { describeAdjustment } from '../../config/durations.ts'
import { loadConfig } from '../../config/load.ts'
import type { HomeOptions } from '../home/home-options.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'

export async function checkConfig(
  { home, file, environment }: HomeOptions,
  io: Io,
): Promise<ExitCode> {
  const { adjustments } = await loadConfig({
    home,
    environment,
    ...(file === undefined ? {} : { file }),
  })
  for (const adjustment of adjustments) io.out(describeAdjustment(adjustment))
  io.out(
    adjustments.length === 0
      ? 'The configuration is valid.'
      : 'The configuration is valid, with the adjustments above.',
  )
  return EXIT.ok
}
