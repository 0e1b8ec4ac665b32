/**
 * Policies, signers, CAs and the hosts of routers in memory, so that calls and logins are judged without reading the
 * store. D-34, D-392.
 *
 * The copy is read again when the store's version number has grown. The transaction of each change increments the
 * number, and concurrent increments wait for each other, so every version below a visible number is committed.
 */

import type { AuthPolicyId, CaId, ExternalJwtSignerId } from '../../base/ids.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, milliseconds, seconds } from '../../base/time/duration.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { PolicyDemands } from '../../protocol/policy-demands.ts'
import type { Cas } from '../certificates/stores.ts'
import type { Ca } from '../certificates/third-party/ca.ts'
import type { ExternalJwtSigner } from '../ext-jwt/signer.ts'
import type { ExternalJwtSigners } from '../ext-jwt/stores.ts'
import { parseRouterHost, type RouterPlace } from '../identities/router-hosts.ts'
import type { Identities } from '../identities/stores.ts'
import type { AuthPolicy } from './auth-policy.ts'
import { demandsOf } from './demands-of.ts'
import type { AuthPolicies, RuleVersions } from './stores.ts'

/** D-34, D-487: an instance whose copies of the database are older than this refuses instead of guessing. */
export const STALE_AFTER: Duration = seconds(5)

/** For what is decided by copies of the database. Throws NOT_READY if one of them is too old. */
export function refuseStale(...copies: readonly { isStale(): boolean }[]): void {
  if (copies.some((copy) => copy.isStale()))
    throw new Failure('NOT_READY', { retryAfterSeconds: 1 })
}

export interface Rules {
  policy(id: AuthPolicyId): AuthPolicy | undefined
  /** What that policy currently demands, given the current signers (D-232). */
  demands(id: AuthPolicyId): PolicyDemands | undefined
  allDemands(): readonly PolicyDemands[]
  /** Enabled or not. */
  signer(id: ExternalJwtSignerId): ExternalJwtSigner | undefined
  /** Enabled or not. Issuers are unique and compared exactly (API 4.5). */
  signerOf(issuer: string): ExternalJwtSigner | undefined
  signers(): readonly ExternalJwtSigner[]
  cas(): readonly Ca[]
  /** Verified or not, enabled or not. */
  ca(id: CaId): Ca | undefined
  /** Routers that have a host, enabled or not. */
  routers(): readonly RouterPlace[]
  /** Of routers that name this host, enabled or not: the port that each allows, or 0 for any. */
  routersAt(host: string): readonly RouterAt[]
  /** Loads changes. Called twice a second, and after each change made here. */
  refresh(): Promise<void>
  /** The version of the loaded copy, and its age; undefined before the first read. */
  state(): { readonly version: number; readonly age: Duration } | undefined
  /**
   * Another process has seen that this version was the newest one this long ago (D-289). Reads the store again if the
   * copy has another version.
   */
  confirm(seen: { readonly version: number; readonly age: Duration }): Promise<void>
  /** Nothing was committed since the last `refresh`, as was found this long ago. */
  confirmUnchanged(age: Duration): void
  isStale(): boolean
  /** Calls the listener after every change that was loaded. Returns a function that unregisters it. */
  onChange(listener: () => void): () => void
}

export interface RouterAt extends RouterPlace {
  readonly port: number
}

export function createRules(deps: {
  readonly ruleVersions: Pick<RuleVersions, 'current'>
  readonly authPolicies: Pick<AuthPolicies, 'list'>
  readonly externalJwtSigners: Pick<ExternalJwtSigners, 'list'>
  readonly cas: Pick<Cas, 'list'>
  readonly identities: Pick<Identities, 'listRouterPlaces'>
  readonly clock: Pick<Clock, 'uptime'>
}): Rules {
  const { ruleVersions, clock } = deps
  const listeners = new Set<() => void>()
  let copy = makeCopy(-1, [], [], [], [])
  let freshAt: Duration | undefined
  let reading: Promise<void> = Promise.resolve()

  async function readNew(): Promise<void> {
    const begun = clock.uptime()
    const version = await ruleVersions.current()
    if (version !== copy.version) {
      // Read the number first: a change made while the lists are read increments it again, and is read next time.
      const [policies, signers, cas, routers] = await Promise.all([
        deps.authPolicies.list(),
        deps.externalJwtSigners.list(),
        deps.cas.list(),
        deps.identities.listRouterPlaces(),
      ])
      copy = makeCopy(version, policies, signers, cas, routers)
      for (const listener of listeners) listener()
    }
    freshAt = begun
  }

  function refresh(): Promise<void> {
    // One at a time: an older read must not overwrite a newer one.
    reading = reading.then(readNew, readNew)
    return reading
  }

  function confirmUnchanged(age: Duration): void {
    const at = clock.uptime() - age
    if (freshAt !== undefined && at > freshAt) freshAt = milliseconds(at)
  }

  return {
    policy: (id) => copy.policies.get(id),
    demands: (id) => copy.demands.get(id),
    allDemands: () => [...copy.demands.values()],
    signer: (id) => copy.signers.get(id),
    signerOf: (issuer) => copy.signersByIssuer.get(issuer),
    signers: () => [...copy.signers.values()],
    cas: () => copy.cas,
    ca: (id) => copy.casById.get(id),
    routers: () => copy.routers,
    routersAt: (host) => copy.routersByHost.get(host) ?? [],
    refresh,
    state: () =>
      freshAt === undefined
        ? undefined
        : { version: copy.version, age: milliseconds(clock.uptime() - freshAt) },
    async confirm({ version, age }) {
      if (version !== copy.version) return refresh()
      confirmUnchanged(age)
    },
    confirmUnchanged,
    isStale: () => freshAt === undefined || milliseconds(clock.uptime() - freshAt) > STALE_AFTER,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function makeCopy(
  version: number,
  policies: readonly AuthPolicy[],
  signers: readonly ExternalJwtSigner[],
  cas: readonly Ca[],
  routers: readonly RouterPlace[],
) {
  return {
    version,
    policies: new Map(policies.map((policy) => [policy.id, policy])),
    demands: new Map(policies.map((policy) => [policy.id, demandsOf(policy, signers, cas)])),
    signers: new Map(signers.map((signer) => [signer.id, signer])),
    signersByIssuer: new Map(signers.map((signer) => [signer.issuer, signer])),
    cas,
    casById: new Map(cas.map((ca) => [ca.id, ca])),
    routers,
    routersByHost: Map.groupBy(routers.flatMap(placesOf), ({ host }) => host),
  }
}

function placesOf(router: RouterPlace): readonly (RouterAt & { readonly host: string })[] {
  return router.hosts.flatMap((text) => {
    const place = parseRouterHost(text)
    return place === undefined ? [] : [{ ...router, ...place }]
  })
}
