/** The checked settings of a gateway: what `gateway.yml` and the command line have decided together. docs/gateway.md. */
import type { HostPort } from '../../base/host-port.ts'
import type { Duration } from '../../base/time/duration.ts'
import type { LogFormat, LogLevel } from '../../config/config.ts'

export interface GatewaySettings {
  /** `https://HOST[:PORT]`. */
  readonly controller: string
  readonly listen: HostPort
  /** The certificate that clients see, if it is not that of the gateway's identity. Absolute paths. */
  readonly certificate?: CertificateFiles
  /** At least one, with unique names, in the order of the file. */
  readonly upstreams: readonly UpstreamSettings[]
  /** Undefined: no proxy may ask. */
  readonly verify?: VerifySettings
  /** Where health and metrics are served, over plain HTTP. */
  readonly monitoring?: { readonly listen: HostPort }
  readonly log: { readonly level: LogLevel; readonly format: LogFormat }
}

/** Forward authentication for proxies. */
export interface VerifySettings {
  /** A listener for proxies; undefined: only the gateway's own. */
  readonly listen?: HostPort | undefined
  readonly jwt: boolean
  readonly require: Requirements
}

export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

export interface UpstreamSettings {
  /** Letters, digits and `-`. */
  readonly name: string
  readonly to: UpstreamTarget
  /** In lower case; empty: every host. */
  readonly hosts: readonly string[]
  /** A prefix of whole segments, beginning with `/`. */
  readonly path: string
  readonly require: Requirements
  /** Whether browsers without credentials are sent to sign in. */
  readonly signIn: boolean
  /** For `tcp`: how long no byte may move on a connection. Undefined: no limit (D-421). */
  readonly idle?: Duration | undefined
}

export interface UpstreamTarget {
  readonly kind: 'http' | 'tcp'
  readonly at: HostPort
}

/** All given members must hold. Within one, a single value suffices, except for `amr`, where all must be proven. */
export interface Requirements {
  readonly identities?: readonly string[] | undefined
  readonly roles?: readonly string[] | undefined
  readonly policies?: readonly string[] | undefined
  readonly amr?: readonly string[] | undefined
  readonly maxAge?: Duration | undefined
}
