/**
 * The home of a gateway: `gateway.yml` beside `identity.json`, which other users must not read. A gateway that gets
 * everything from its command line has none. D-390.
 */
import { join } from 'node:path'
import { exists, RefusedStart } from '../../app/installation/private-files.ts'
import { GATEWAY_FILE } from '../../gateway/settings/load.ts'
import type { Io } from '../terminal/io.ts'
import { type GatewayValues, requireAll } from './given.ts'

const DEFAULT_GATEWAY_HOME = 'latchkey-gateway'

export interface GatewayPlace {
  /** What paths in the file are relative to. */
  readonly folder: string
  /** Undefined: everything is on the command line. */
  readonly file: string | undefined
  readonly identity: string
  /** The identity belongs to the home, and is renewed. */
  readonly isOwn: boolean
}

/** The files of a home, whether they exist or not. */
export function homeOf(values: GatewayValues, io: Pick<Io, 'resolve'>) {
  const folder = io.resolve(values.home ?? DEFAULT_GATEWAY_HOME)
  return { folder, file: join(folder, GATEWAY_FILE), identity: join(folder, 'identity.json') }
}

/** Throws Misuse, RefusedStart. */
export async function findPlace(
  values: GatewayValues,
  io: Pick<Io, 'resolve'>,
): Promise<GatewayPlace> {
  const { folder, file, identity } = homeOf(values, io)
  const isWanted = values.home !== undefined || values.identity === undefined
  if (isWanted && (await exists(file))) {
    if (values.identity !== undefined) {
      return { folder, file, identity: io.resolve(values.identity), isOwn: false }
    }
    if (!(await exists(identity))) {
      throw new RefusedStart(
        `${folder} has no identity: the gateway was not enrolled; start it once with --enroll FILE`,
      )
    }
    return { folder, file, identity, isOwn: true }
  }
  if (values.home !== undefined) {
    throw new RefusedStart(`there is no ${file}; create the home with --enroll FILE`)
  }
  requireAll(values)
  const given = io.resolve(values.identity ?? '')
  return { folder: io.resolve('.'), file: undefined, identity: given, isOwn: false }
}
