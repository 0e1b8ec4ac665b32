/** One service behind the gateway, as the settings describe it. */
import type { HostPort } from '../../base/host-port.ts'
import type { Duration } from '../../base/time/duration.ts'

export interface UpstreamSettings {
  /** Letters, digits and `-`; unique. */
  readonly name: string
  readonly to: { readonly kind: 'http' | 'tcp'; readonly at: HostPort }
  /** In lower case, without port and without a trailing dot. If empty: every host. */
  readonly hosts: readonly string[]
  /** A prefix, compared by segments (D-401). */
  readonly path: string
  readonly require: Requirements
  /** Whether browsers are sent to sign in. */
  readonly signIn: boolean
}

/** All members that are present must hold. One of the values suffices, except for `amr`: all of them. */
export interface Requirements {
  readonly identities?: readonly string[]
  readonly roles?: readonly string[]
  readonly policies?: readonly string[]
  readonly amr?: readonly string[]
  /** How long ago the caller may have authenticated. */
  readonly maxAge?: Duration
}

/** Returns the settings of the only upstream of a gateway: every request goes to it. */
export function onlyUpstream(at: HostPort): UpstreamSettings {
  return {
    name: 'upstream',
    to: { kind: 'http', at },
    hosts: [],
    path: '/',
    require: {},
    signIn: true,
  }
}
