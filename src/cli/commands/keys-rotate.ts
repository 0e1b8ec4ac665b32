/**
 * `latchkey keys rotate`: creates the next signing keys in the database; running instances pick them up by themselves.
 * With `--revoke-now` they replace all older ones at once (D-135).
 */
import { rotateSigningKeys } from '../../app/installation/rotate-signing-keys.ts'
import { toRfc3339 } from '../../base/time/instant.ts'
import { printNewKeys } from '../admin/new-keys.ts'
import { confirmationLines } from '../admin/sessions/confirmations.ts'
import type { HomeOptions } from '../home/home-options.ts'
import { loadInstalled } from '../home/installed-config.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'

export async function rotateKeys(
  options: HomeOptions,
  io: Io,
  revokes: 'nothing' | 'older-keys',
  /** How long to wait until routers and instances have confirmed it. */
  seconds?: number,
): Promise<ExitCode> {
  const config = await loadInstalled(options)
  const { access, id, confirmations } = await rotateSigningKeys(config, revokes, seconds)
  const keys = [access, id].map((key) => ({ ...key, activeFrom: toRfc3339(key.activeFrom) }))
  printNewKeys(io, keys, revokes)
  if (confirmations === undefined) return EXIT.ok
  for (const line of confirmationLines(confirmations)) io.out(line)
  return confirmations.outcome === 'confirmed' ? EXIT.ok : EXIT.unconfirmed
}
