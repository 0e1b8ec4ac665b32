/**
 * `latchkey keys rotate`: creates the next signing key in the database; running instances pick it up by themselves.
 * With `--revoke-now` it replaces all older ones at once (D-135).
 */
import { rotateSigningKey } from '../../app/installation/rotate-signing-key.ts'
import { toRfc3339 } from '../../base/time/instant.ts'
import type { HomeOptions } from '../home/home-options.ts'
import { loadInstalled } from '../home/installed-config.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'

export async function rotateKeys(
  options: HomeOptions,
  io: Io,
  revokes: 'nothing' | 'older-keys',
): Promise<ExitCode> {
  const config = await loadInstalled(options)
  const { kid, algorithm, activeFrom } = await rotateSigningKey(config, revokes)
  const name = `The signing key ${kid} (${algorithm})`
  io.out(
    revokes === 'nothing'
      ? `${name} is published and signs from ${toRfc3339(activeFrom)}.`
      : `${name} signs from now on. All older keys are withdrawn: tokens that they signed are refused within a second, sessions and refresh tokens stay.`,
  )
  return EXIT.ok
}
