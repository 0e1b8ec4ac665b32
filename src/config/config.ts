/**
 * The checked configuration for the rest of the program: complete, with parsed values and absolute paths, deeply
 * frozen. schema.ts has the form that operators write; load.ts turns one into the other. D-46.
 */

import type { HostPort } from '../base/host-port.ts'
import type { HostOrNetwork, Network } from '../base/network.ts'
import type { NonEmpty } from '../base/non-empty.ts'
import type { Secret } from '../base/secrets/secret.ts'
import type { Duration } from '../base/time/duration.ts'
import type { RedirectPattern } from '../protocol/redirect-uri.ts'
import type { SigningAlgorithm } from '../protocol/signing-algorithms.ts'

export interface Config {
  /** Absolute, and so is every other path here. */
  readonly home: string
  readonly db: Database
  readonly secret: SecretSource
  readonly listeners: NonEmpty<Listener>
  /** D-288: how many processes answer requests; `auto` depends on the number of cores. */
  readonly workers: number | 'auto'
  /** D-1: client id, audience, provider and the prefix of the realms. */
  readonly brand: string
  /** D-314: whose existing clients the compatibility layer is for. */
  readonly compatibility: Compatibility
  /** SPIFFE trust domain of the certificates that we issue (D-40). */
  readonly trustDomain: string
  readonly api: {
    /** The address in enrollment JWTs (D-126); undefined means the first address of the client API. */
    readonly address: HostPort | undefined
    readonly corsOrigins: readonly string[]
    /** D-36: the idle end of a legacy session. */
    readonly sessionTimeout: Duration
    readonly sessionCertificateDuration: Duration
  }
  readonly tokens: {
    readonly accessTokenDuration: Duration
    readonly idTokenDuration: Duration
    readonly refreshTokenDuration: Duration
    readonly refreshRetryWindow: Duration
    /** D-27, D-36: the absolute end of a session of either kind. Never shorter than an access token. */
    readonly maxSessionDuration: Duration
  }
  readonly keys: {
    readonly algorithms: { readonly access: SigningAlgorithm; readonly id: SigningAlgorithm }
    readonly rotation: Duration
  }
  /** API 3.2: how long an enrollment token is valid, and how long the certificate lasts that it is exchanged for. */
  readonly enrollment: { readonly duration: Duration; readonly certificateDuration: Duration }
  readonly passwords: {
    /** How many passwords are hashed at the same time; `auto` depends on the number of cores. */
    readonly hashing: number | 'auto'
    readonly queue: number
    /** R074. */
    readonly rejectCommon: boolean
  }
  /** D-19: the issuer that authenticator apps show; undefined means the host of the bind point. */
  readonly totp: { readonly hostname: string | undefined }
  readonly limits: {
    /** D-22: wrong passwords per minute, and wrong enrollment tokens per minute; 0 means no limit. */
    readonly failuresPerAddress: number
    readonly trustedProxies: readonly Network[]
  }
  readonly externalJwtSigners: { readonly fetch: FetchRules }
  readonly audit: { readonly retention: Duration; readonly output: AuditOutput }
  /** D-345: how long a sign-in to the account page counts for applications; zero is off. */
  readonly sso: { readonly duration: Duration }
  /** D-343: what the pages show of the operator. */
  readonly branding: {
    readonly name: string | undefined
    readonly logo: Logo | undefined
    readonly colors: {
      readonly accent: string | undefined
      readonly accentDark: string | undefined
    }
    readonly support: string | undefined
  }
  readonly log: { readonly level: LogLevel; readonly format: LogFormat }
  readonly notifications: {
    /** D-378: where links are posted; undefined means nowhere. */
    readonly webhook: Webhook | undefined
  }
  /** The values as they were written, without secrets, for people to read (D-372). */
  readonly settings: readonly Setting[]
  readonly telemetry: {
    /** D-139: where spans go; undefined means that none are made. */
    readonly traces: TraceExport | undefined
  }
}

/** A receiver that delivers links, by mail for example. */
export interface Webhook {
  readonly url: URL
  /** The key that signs each call; the bytes behind `whsec_`. */
  readonly secret: Secret
}

/** Checked, as text because a frozen configuration cannot hold bytes. */
export interface Logo {
  readonly type: 'image/png' | 'image/svg+xml'
  readonly base64: string
}

/** One value of the configuration, for people (D-372). */
export interface Setting {
  readonly path: string
  readonly value: string
  /** Whether the file has it; otherwise it is the default. */
  readonly isSet: boolean
  /** What the file says, if it was too short and was raised (D-43). */
  readonly adjustedFrom: string | undefined
}

/** A collector that takes OTLP over HTTP, as JSON. */
export interface TraceExport {
  readonly endpoint: URL
  /** They may carry a credential. */
  readonly headers: Readonly<Record<string, Secret>>
  /** The fraction of requests to trace, 0 to 1. */
  readonly sampleRatio: number
}

export type Database =
  | { readonly kind: 'sqlite'; readonly path: string }
  /** The URL may carry a password. */
  | { readonly kind: 'postgres'; readonly url: Secret }

/** Where keys of external JWT signers may be fetched. API 4.5. */
export interface FetchRules {
  readonly allowHttp: boolean
  readonly blockPrivateAddresses: boolean
  /** Exceptions to `blockPrivateAddresses`. */
  readonly allowed: readonly HostOrNetwork[]
  /** Overrides everything else. */
  readonly denied: readonly HostOrNetwork[]
}

/** Where events go in addition to the database (D-134). */
export type AuditOutput =
  | { readonly kind: 'none' | 'stdout' }
  | { readonly kind: 'file'; readonly path: string }

export type SecretSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'environment'; readonly variable: string; readonly value: Secret }

/** PEM files. If there are none, the listener gets a certificate of our own PKI. */
export interface IdentityFiles {
  readonly cert: string
  readonly key: string
  readonly ca?: string
}

export interface Listener {
  readonly name: string
  readonly bindPoints: NonEmpty<BindPoint>
  /** Its own, or else the one at the top of the file. */
  readonly identity?: IdentityFiles
  readonly tls: { readonly minVersion: TlsVersion; readonly maxVersion: TlsVersion }
  /** D-200. */
  readonly strictTransportSecurity: StrictTransport
  readonly timeouts: Timeouts
  /** D-208. If it is missing, connections begin with TLS. */
  readonly proxyProtocol?: { readonly trustedSources: readonly Network[] }
  readonly apis: NonEmpty<Api>
}

/**
 * Where to listen, and the address that clients use for it, which determines its issuer (D-2). Several bind points of
 * one listener may share an interface: one socket with several addresses. Port 0 in an interface is a free port; in an
 * address it is the port that the interface got.
 */
export interface BindPoint {
  readonly interface: HostPort
  readonly address: HostPort
}

export interface Timeouts {
  readonly header: Duration
  /** Never shorter than `header`, because Node refuses that. */
  readonly request: Duration
  readonly idle: Duration
  /** How long a peer may accept no byte of a response (D-196). */
  readonly write: Duration
}

export type Api =
  | {
      readonly binding: 'edge-client' | 'edge-management' | 'console' | 'health-checks' | 'metrics'
    }
  | {
      readonly binding: 'edge-oidc'
      readonly redirectPatterns: readonly RedirectPattern[]
      readonly postLogoutPatterns: readonly RedirectPattern[]
    }

export const COMPATIBILITIES = ['openziti', 'none'] as const
export type Compatibility = (typeof COMPATIBILITIES)[number]

export const STRICT_TRANSPORT = ['auto', 'always', 'never'] as const
export type StrictTransport = (typeof STRICT_TRANSPORT)[number]

export const BINDINGS = [
  'edge-client',
  'edge-management',
  'edge-oidc',
  'console',
  'health-checks',
  'metrics',
] as const
export type Binding = (typeof BINDINGS)[number]

/** As operators write them, and as `node:tls` does. */
export const TLS_VERSIONS = { 'TLS1.2': 'TLSv1.2', 'TLS1.3': 'TLSv1.3' } as const
export type TlsVersion = (typeof TLS_VERSIONS)[keyof typeof TLS_VERSIONS]

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const LOG_FORMATS = ['auto', 'json', 'text'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]
