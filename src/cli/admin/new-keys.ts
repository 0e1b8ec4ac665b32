/** What `latchkey keys rotate` prints about the keys that it created: over the API and in a home alike. */
import type { Io } from '../terminal/io.ts'
import { plain } from '../terminal/output.ts'

export interface NewKey {
  readonly kid: string
  readonly purpose: string
  readonly algorithm: string
  /** RFC 3339. */
  readonly activeFrom: string
}

const TOKENS: Readonly<Record<string, string>> = { access: 'access tokens', id: 'ID tokens' }

export function printNewKeys(
  io: Io,
  keys: readonly NewKey[],
  revokes: 'nothing' | 'older-keys',
): void {
  for (const { kid, purpose, algorithm, activeFrom } of keys) {
    const start =
      revokes === 'nothing' ? `is published and signs from ${activeFrom}` : 'signs from now on'
    io.out(plain(`The key ${kid} (${algorithm}) for ${TOKENS[purpose] ?? purpose} ${start}.`))
  }
  if (revokes === 'nothing') return
  const older = 'All older keys are withdrawn: tokens that they signed are refused within a second'
  io.out(`${older}, sessions and refresh tokens stay.`)
}
