/**
 * What a legacy client reports about its machine and itself: API 4.1, D-51, D-124. Nothing in it is rejected: anything
 * but a short string under a known name is dropped.
 */
import { isJsonObject } from '../../base/json.ts'
import { isLine } from '../../base/text.ts'
import type { ClientInfo } from '../../domain/identities/identity.ts'
import type { LegacyClient } from '../../domain/sessions/authenticate-legacy.ts'
import type { Fields } from '../reading/fields.ts'

/** As the SDKs for such controllers spell them. */
const ENV_INFO = ['arch', 'os', 'osRelease', 'osVersion', 'domain', 'hostname']
const SDK_INFO = ['appId', 'appVersion', 'branch', 'revision', 'type', 'version']

const LONGEST = 256

export function readClient(fields: Fields): LegacyClient {
  return {
    envInfo: readInfo(fields.get('envInfo'), ENV_INFO),
    sdkInfo: readInfo(fields.get('sdkInfo'), SDK_INFO),
  }
}

/** Undefined if none of it can be kept. */
function readInfo(
  [given]: readonly unknown[] = [],
  names: readonly string[],
): ClientInfo | undefined {
  if (!isJsonObject(given)) return undefined
  const told = names.flatMap((name) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    const isShort = typeof value === 'string' && value !== '' && value.length <= LONGEST
    return isShort && isLine(value) ? [[name, value] as const] : []
  })
  return told.length === 0 ? undefined : Object.fromEntries(told)
}
