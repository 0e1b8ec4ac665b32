/**
 * What a legacy client tells of its machine and of itself: API 4.1, D-51, D-124. Nothing in it is ever refused: what is not
 * a short text by a known name is left out.
 */
import { isLine } from '../../base/text.ts'
import type { ClientInfo } from '../../domain/identities/identity.ts'
import type { LegacyClient } from '../../domain/sessions/authenticate-legacy.ts'
import type { Fields } from '../reading/fields.ts'
import { isMembers } from './changed-body.ts'

/** As the SDKs of such controllers spell them. */
const ENV_INFO = ['arch', 'os', 'osRelease', 'osVersion', 'domain', 'hostname']
const SDK_INFO = ['appId', 'appVersion', 'branch', 'revision', 'type', 'version']

const LONGEST = 256

export function readClient(fields: Fields): LegacyClient {
  return {
    envInfo: readInfo(fields.get('envInfo'), ENV_INFO),
    sdkInfo: readInfo(fields.get('sdkInfo'), SDK_INFO),
  }
}

/** Undefined where nothing of it can be kept. */
function readInfo(
  [given]: readonly unknown[] = [],
  names: readonly string[],
): ClientInfo | undefined {
  if (!isMembers(given)) return undefined
  const told = names.flatMap((name) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    const isShort = typeof value === 'string' && value !== '' && value.length <= LONGEST
    return isShort && isLine(value) ? [[name, value] as const] : []
  })
  return told.length === 0 ? undefined : Object.fromEntries(told)
}
