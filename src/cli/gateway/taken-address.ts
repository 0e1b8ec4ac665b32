/** Tells the operator of a gateway which address cannot be listened on, and where to change it. */
import { RefusedStart } from '../../app/installation/private-files.ts'
import { explainListenError, UnusablePlace } from '../../app/listen-places.ts'
import { formatHostPort } from '../../base/host-port.ts'
import type { GivenSettings } from '../../gateway/settings/load.ts'
import type { GatewaySettings } from '../../gateway/settings/settings.ts'

export interface SettingsSource {
  readonly settings: Pick<GatewaySettings, 'listen' | 'verify' | 'monitoring'>
  readonly given: Pick<GivenSettings, 'listen'>
  /** `gateway.yml`; undefined if everything is on the command line. */
  readonly file: string | undefined
}

/** Every address that the gateway listens on. */
export function addressesOf(settings: SettingsSource['settings']): readonly string[] {
  return places(settings).map(({ at }) => formatHostPort(at))
}

/** Returns RefusedStart for an address that cannot be used, and any other error as it is. */
export function explainTaken(error: unknown, source: SettingsSource): unknown {
  const explained = isListenError(error) ? explainListenError(error, undefined, 'gateway') : error
  if (!(explained instanceof UnusablePlace)) return error
  const { settings, given, file } = source
  // The error has the resolved address; only the port is as it was configured.
  const keys = places(settings)
    .filter(({ at }) => at.port === explained.port)
    .map(({ key }) => {
      const isOption = key === 'listen' && given.listen !== undefined
      return isOption || file === undefined ? `--${key}` : `${key} in ${file}`
    })
  const remedy = `To use another address, change ${keys.join(' or ')}.`
  return new RefusedStart(`${explained.message}\n${remedy}`, { cause: error })
}

function places({ listen, verify, monitoring }: SettingsSource['settings']) {
  return [
    { key: 'listen', at: listen },
    { key: 'verify.listen', at: verify?.listen },
    { key: 'monitoring.listen', at: monitoring?.listen },
  ].flatMap(({ key, at }) => (at === undefined ? [] : [{ key, at }]))
}

function isListenError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && error.syscall === 'listen'
}
