/** The options of `latchkey gateway`, checked, and in the form of `gateway.yml`. */
import { parseHostPort } from '../../base/host-port.ts'
import type { GivenSettings } from '../../gateway/settings/load.ts'
import { parseUpstreamOption } from '../../gateway/settings/upstream-url.ts'
import { parseControllerUrl } from '../../router/paths.ts'
import { Misuse } from '../terminal/io.ts'

export interface GatewayValues {
  readonly home?: string
  readonly enroll?: string
  readonly controller?: string
  readonly identity?: string
  readonly listen?: string
  readonly upstream?: readonly string[]
}

/** Throws Misuse. The file must have every setting that the options do not give. */
export function readGiven(values: GatewayValues): GivenSettings {
  const { controller, listen, upstream } = values
  if (values.enroll !== undefined) {
    for (const name of ['controller', 'identity'] as const) {
      if (values[name] !== undefined) {
        throw new Misuse(
          `--enroll and --${name} cannot be combined: the enrollment token already has this value`,
        )
      }
    }
  }
  if (controller !== undefined && parseControllerUrl(controller) === undefined) {
    throw new Misuse(
      '--controller must be https://HOST[:PORT], for example https://auth.example.com',
    )
  }
  if (listen !== undefined && parseHostPort(listen) === undefined) {
    throw new Misuse(`--listen must be HOST:PORT, for example 0.0.0.0:8443 (got "${listen}")`)
  }
  const upstreams = upstream?.map((text) => {
    const parsed = parseUpstreamOption(text)
    if (parsed === undefined) {
      throw new Misuse('--upstream must be [NAME=]http://HOST:PORT or [NAME=]tcp://HOST:PORT')
    }
    return parsed
  })
  return { controller, listen, upstreams }
}

/** Throws Misuse if a required option is missing and there is no home. */
export function requireAll(values: GatewayValues): void {
  const missing = (['controller', 'identity', 'listen', 'upstream'] as const).find(
    (name) => values[name] === undefined,
  )
  if (missing === undefined) return
  const home =
    values.identity === undefined ? ', and there is no gateway home; create one with --enroll' : ''
  throw new Misuse(`--${missing} is missing${home}`)
}
