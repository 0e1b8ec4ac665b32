/** `latchkey secret rotate`: replaces the installation secret (D-141). The secret is never printed. */
import { rotateInstallationSecret } from '../../app/installation/rotate-secret.ts'
import { shellWord } from '../../base/shell-word.ts'
import { type HomeValues, readHomeOptions } from '../home/home-options.ts'
import { loadInstalled } from '../home/installed-config.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'

export async function rotateSecret(values: HomeValues, io: Io): Promise<ExitCode> {
  const config = await loadInstalled(readHomeOptions(values, io))
  const { path, count } = await rotateInstallationSecret(config)
  io.out(`The installation secret was replaced; what it protects (${count}) was encrypted again.`)
  if (config.secret.kind === 'file') {
    io.out(`It is in ${path}. Copy it to every other instance.`)
  } else {
    io.out(`It is in ${path}. Set ${config.secret.variable} to what is in it everywhere, then run:`)
    io.out(`  rm ${shellWord(path)}`)
  }
  io.out('Running instances stop now with exit code 75; start them again.')
  return EXIT.ok
}
