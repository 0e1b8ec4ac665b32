/** What routes need in addition to ports: what differs per listener, and what belongs only to the edge. D-267. */
import type { Version } from '../contract/version.ts'
import type { RelyingParty } from '../domain/factors/passkey/relying-party.ts'
import type { CheckHealth } from '../domain/health/check-health.ts'
import type { CheckWarnings } from '../domain/health/check-warnings.ts'
import type { ShownSetting } from '../web/console/operations/configuration-page.ts'
import type { BrandingSettings } from '../web/login/look/branding.ts'
import type { ListenerAddresses } from './issuers.ts'
import type { ShownMetrics } from './monitoring/probes.ts'
import type { RequestHead } from './reading/header-fields.ts'
import type { OutcomeCounters } from './request-observer.ts'

export interface ListenerParts {
  /** Set once the listener is listening. */
  readonly addresses: () => ListenerAddresses
  /** D-19, D-343: the issuer name that an authenticator app shows. */
  readonly totpHostname: (head: RequestHead) => string
  /** D-430: the site that passkeys are created for; undefined at an IP address. */
  readonly relyingParty: (head: RequestHead) => RelyingParty | undefined
  /** D-343: what the pages show of the operator. */
  readonly branding: BrandingSettings
  readonly corsOrigins: readonly string[]
  /** D-314. */
  readonly compatibility: 'openziti' | 'none'
  /** D-312: the CAs of configured server certificates (`identity.ca`), of every listener. */
  readonly serverCasPem: () => readonly string[]
  readonly version: () => Omit<Version, 'time'>
  /** D-372: the configuration as it was written, without secrets. */
  readonly settings: readonly ShownSetting[]
  readonly checkHealth: CheckHealth
  readonly checkWarnings: CheckWarnings
  readonly metrics: ShownMetrics
  readonly counters: OutcomeCounters
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal
}
