/** Short values that differ when copies of two processes differ, and the clock that they share. */
import { createHash } from 'node:crypto'
import type { Core } from '../core.ts'

/** Milliseconds by a clock that never jumps and that all processes of this machine share. */
export function machineTime(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}

/** Changes with every key that is made or withdrawn. */
export function keysOf({ ports }: Pick<Core, 'ports'>): string {
  return ports.signingKeys
    .published()
    .map(({ key }) => key.kid)
    .join(' ')
}

/** Changes with every CA of our own that is made. */
export function authoritiesOf({ authorities }: Pick<Core, 'authorities'>): string {
  const { caBundlePem, serverIssuingPem } = authorities
  return createHash('sha256').update(caBundlePem).update(serverIssuingPem).digest('base64url')
}
