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

/** Throws Misuse. Whatever is not given must be in the file. */
export function readGiven(values: GatewayValues): GivenSettings {
  const { controller, listen, upstream } = values
  if (values.enroll !== undefined) {
    for (const name of ['controller', 'identity'] as const) {
      if (values[name] !== undefined) {
        throw new Misuse(`--enroll and --${name} exclude each other: the token says it`)
      }
    }
  }
  if (controller !== undefined && parseControllerUrl(controller) === undefined) {
    throw new Misuse('--controller is not https://HOST:PORT')
  }
  if (listen !== undefined && parseHostPort(listen) === undefined) {
    throw new Misuse('--listen is not HOST:PORT')
  }
  const upstreams = upstream?.map((text) => {
    const parsed = parseUpstreamOption(text)
    if (parsed === undefined) {
      throw new Misuse('--upstream is not [NAME=]http://HOST:PORT or [NAME=]tcp://HOST:PORT')
    }
    return parsed
  })
  return { controller, listen, upstreams }
}

/** Throws Misuse for whatever a gateway without a home needs and does not get. */
export function requireAll(values: GatewayValues): void {
  for (const name of ['controller', 'identity', 'listen', 'upstream'] as const) {
    if (values[name] !== undefined) continue
    const home = name === 'identity' ? ', and there is no home; --enroll makes one' : ''
    throw new Misuse(`--${name} is missing${home}`)
  }
}
