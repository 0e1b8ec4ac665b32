/**
 * Opens TCP connections through a gateway for as long as a session lives. A refused token or certificate is replaced
 * once; a gateway that is unavailable for a moment is tried again; other failures are left to the caller. D-424.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../base/time/clock.ts'
import { ServerUnavailable } from '../errors.ts'
import type { GatewayCredentials } from './credentials.ts'
import {
  type GatewayCredential,
  GatewayRefused,
  openTunnel,
  type TcpTarget,
  type Tunnel,
} from './tunnel.ts'

export interface ReachOptions {
  readonly credentials: Pick<GatewayCredentials, 'current' | 'replaceToken' | 'dropCertificate'>
  readonly clock: Pick<Clock, 'uptime'>
  /** How long a gateway may be unavailable; 0 means one attempt. */
  readonly patienceMilliseconds: number
  readonly signal?: AbortSignal
}

/** Long enough for a gateway to restart. */
export const PATIENCE_MILLISECONDS = 20_000

const FIRST_PAUSE_MILLISECONDS = 200
const LONGEST_PAUSE_MILLISECONDS = 2_000

/** Throws what `openTunnel` throws, SessionEnded, and what a session throws. */
export function reach(target: TcpTarget, options: ReachOptions): Promise<Tunnel> {
  return attempt((credential) => openTunnel(target, credential, options.signal), options)
}

/** Runs `act` with credentials that a gateway accepts. */
export async function attempt<T>(
  act: (credential: GatewayCredential) => Promise<T>,
  { credentials, clock, patienceMilliseconds, signal }: ReachOptions,
): Promise<T> {
  const begun = clock.uptime()
  const replaced = new Set<string>()
  let pause = FIRST_PAUSE_MILLISECONDS
  for (;;) {
    signal?.throwIfAborted()
    try {
      return await act(await credentials.current())
    } catch (error) {
      const refused = replaceable(error)
      if (refused !== undefined && !replaced.has(refused)) {
        replaced.add(refused)
        if (refused === 'token') await credentials.replaceToken()
        else credentials.dropCertificate()
        continue
      }
      const isOver = clock.uptime() - begun + pause > patienceMilliseconds
      if (!isAway(error) || isOver) throw error
      await sleep(pause, undefined, { signal })
      pause = Math.min(pause * 2, LONGEST_PAUSE_MILLISECONDS)
    }
  }
}

/** Returns which credential to replace before another attempt. */
function replaceable(error: unknown): 'token' | 'certificate' | undefined {
  if (!(error instanceof GatewayRefused)) return undefined
  // D-153: also `invalid`; only a refresh shows whether the session has ended.
  if (error.code === 'UNAUTHORIZED') return 'token'
  return error.next === 'present-certificate' ? 'certificate' : undefined
}

/** The gateway or the controller restarts, or the network is gone for a moment. */
function isAway(error: unknown): boolean {
  if (error instanceof GatewayRefused) return error.status === 503
  return error instanceof ServerUnavailable
}
