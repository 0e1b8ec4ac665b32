/** Builds the ports of every use case from the configuration, once. Nothing runs yet. */

import type { ApiSessionId } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import { milliseconds } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import { createLoopTurns } from '../../base/time/loop-turns.ts'
import type { Config } from '../../config/config.ts'
import { createFoldRepeats } from '../../domain/audit/fold-repeats.ts'
import { createProvenRouters } from '../../domain/calls/routers/proven-routers.ts'
import { createRouterPresence } from '../../domain/calls/routers/router-presence.ts'
import type { CertificateAuthorities } from '../../domain/certificates/own/authorities.ts'
import type { ClientApi } from '../../domain/enrollments/enrollment-jwt.ts'
import type { Announce } from '../../domain/enrollments/links/notice.ts'
import { createFindEndpoints } from '../../domain/ext-jwt/idp/endpoints.ts'
import {
  type AskKeySet,
  createSignerKeys,
  type FetchOutcome,
} from '../../domain/ext-jwt/signer-keys.ts'
import { createGuessOrder } from '../../domain/factors/guessing/guess-order.ts'
import type { PasswordHashing } from '../../domain/factors/passwords/hashing.ts'
import { createCountedIntervals } from '../../domain/overview/counted-intervals.ts'
import { createRules } from '../../domain/policies/rules.ts'
import { createCollectedEndings } from '../../domain/sessions/confirming/collected-endings.ts'
import { createEndedSessions, type EndingRow } from '../../domain/sessions/ending/ended-sessions.ts'
import { NO_NEWS, type Others, tellCopies } from '../../domain/sessions/ending/tell-copies.ts'
import {
  createLegacySessionCache,
  type LegacySessionCache,
} from '../../domain/sessions/legacy-session-cache.ts'
import type { Store } from '../../domain/stores.ts'
import { createSigningKeys, type SigningKeys } from '../../domain/tokens/keys/signing-keys.ts'
import { createVerifiedTokens } from '../../domain/tokens/keys/verified-tokens.ts'
import { createDpopNonces } from '../../domain/tokens/possession/nonces.ts'
import { createFetchJson, type FetchJson } from '../../outbound/fetch-json.ts'
import { createPostForm } from '../../outbound/post-form.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import { createLimits, type Limits } from './limits.ts'

export interface Parts {
  readonly config: Config
  readonly store: Store
  readonly vault: Vault
  readonly hashing: PasswordHashing
  readonly authorities: CertificateAuthorities
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** Every issuer of this controller; known once its listeners are open. */
  readonly issuers: () => readonly Issuer[]
  /** The address of the client API and its certificate; known once its listener is open. */
  readonly clientApi: () => ClientApi | undefined
  /** Undefined if no receiver is configured (D-378). */
  readonly announce?: Announce
  /** The latest moment that is certainly past (D-230). */
  readonly past: () => Instant
  /** Default: limits of this process alone. */
  readonly limits?: Limits
  /** Set if other processes answer requests of this instance too. */
  readonly others?: Others | undefined
  readonly onEndingsRead?: ((rows: readonly EndingRow[]) => void) | undefined
  /** How many processes answer requests; 1 by default. */
  readonly processes?: number
  readonly onKeyFetch?: (outcome: FetchOutcome) => void
  /** Set in a worker: asks the supervisor for the keys of signers (D-498). */
  readonly askKeySet?: AskKeySet | undefined
  /** Set if fetches are traced. */
  readonly traceFetch?: ((fetchJson: FetchJson) => FetchJson) | undefined
}

/** D-314: the client ids that existing clients have built in. */
const OPENZITI_CLIENT_IDS = ['openziti', 'native']

export function compose(parts: Parts) {
  const { config, store, clock, random, vault, log, hashing, authorities, issuers } = parts
  const { limits = createLimits(config, clock), others, processes = 1 } = parts
  const { brand, tokens } = config
  const isForOpenZiti = config.compatibility === 'openziti'

  // In-memory copies of the store (D-34).
  const rules = createRules({ ...store.aside, clock })
  const endedSessions = createEndedSessions({
    sessionEndings: {
      async listAfter(after) {
        const rows = await store.aside.sessionEndings.listAfter(after)
        parts.onEndingsRead?.(rows)
        return rows
      },
    },
    clock,
  })
  const signingKeys = composeSigningKeys({
    ...parts,
    isWithdrawn: (kid) => endedSessions.has(`key:${kid}`),
  })
  const plainFetch = createFetchJson(config.externalJwtSigners.fetch)
  const fetchJson = parts.traceFetch?.(plainFetch) ?? plainFetch
  const signerKeys = createSignerKeys({
    fetchJson,
    clock,
    log,
    askKeySet: parts.askKeySet,
    ...(parts.onKeyFetch === undefined ? {} : { onFetch: parts.onKeyFetch }),
  })
  rules.onChange(() => signerKeys.forgetOthers(rules.signers().map(({ id }) => id)))

  const { fetch: fetchRules } = config.externalJwtSigners
  const collectedEndings = createCollectedEndings()
  const transaction = tellCopies(store.transaction, {
    endedSessions,
    rules,
    others,
    onEndings: collectedEndings.note,
  })

  /**
   * Everything that is replaceable, once: each use case takes from it what its ports type names. The store of the
   * signing keys and that of our CAs give their names to what is kept of them in memory; both exist inside a
   * transaction alone.
   */
  return {
    ...store,
    transaction,
    collectedEndings,
    loopTurns: createLoopTurns(),
    routerPresence: createRouterPresence({
      clock,
      transaction,
      sessionContacts: store.sessionContacts,
      log,
    }),
    clock,
    random,
    vault,
    hashing,
    foldRepeats: createFoldRepeats({ clock, processes }),
    brand,
    clientId: brand,
    otherClientIds: isForOpenZiti ? OPENZITI_CLIENT_IDS.filter((id) => id !== brand) : [],
    keepsEnrollmentJwt: isForOpenZiti,
    audience: brand,
    trustDomain: config.trustDomain,
    issuers,
    clientApi: parts.clientApi,
    announce: parts.announce,
    past: parts.past,
    rules,
    endedSessions,
    signingKeys,
    signerKeys,
    authorities,
    ownAnchors: () => authorities.anchorPems,
    caBundlePem: () => authorities.caBundlePem,
    fetchJson,
    postForm: createPostForm(fetchRules),
    findEndpoints: createFindEndpoints({ fetchJson, clock, allowHttp: fetchRules.allowHttp }),
    allowHttp: fetchRules.allowHttp,
    ...limits,
    beginGuess: createGuessOrder(),
    beginEnrollmentRefusal: createGuessOrder(),
    legacySessionCache: forgetEverywhere(createLegacySessionCache({ clock }), others),
    provenRouters: createProvenRouters({ clock }),
    verifiedTokens: createVerifiedTokens(),
    dpopNonces: createDpopNonces({ vault, clock }),
    rejectsCommonPasswords: config.passwords.rejectCommon,
    ssoDuration: config.sso.duration,
    sessionTimeout: config.api.sessionTimeout,
    sessionCertificateDuration: config.api.sessionCertificateDuration,
    maxSessionDuration: tokens.maxSessionDuration,
    refreshTokenDuration: tokens.refreshTokenDuration,
    refreshRetryWindow: tokens.refreshRetryWindow,
    accessTokenLife: tokens.accessTokenDuration,
    idTokenLife: tokens.idTokenDuration,
    keyRotation: config.keys.rotation,
    countedIntervals: createCountedIntervals(),
    enrollmentDuration: config.enrollment.duration,
    enrolledCertificateDuration: config.enrollment.certificateDuration,
  }
}

/** D-290. */
function forgetEverywhere(cache: LegacySessionCache, others: Others | undefined) {
  const here = (id: ApiSessionId) => cache.forget(id)
  return {
    ...cache,
    forgetHere: here,
    forget: async (id: ApiSessionId) => {
      await here(id)
      await others?.tell({ ...NO_NEWS, changedSession: id })
    },
  }
}

/** Separate, because `latchkey keys rotate` needs only these. */
export function composeSigningKeys(
  parts: Pick<Parts, 'config' | 'store' | 'vault' | 'clock'> & {
    readonly isWithdrawn?: (kid: string) => boolean
  },
): SigningKeys {
  const { config, store, vault, clock, isWithdrawn } = parts
  const { accessTokenDuration, idTokenDuration } = config.tokens
  return createSigningKeys({
    store: { ...store.signingKeys, list: store.aside.signingKeys.list },
    vault,
    clock,
    algorithms: config.keys.algorithms,
    rotation: config.keys.rotation,
    tokenLife: milliseconds(Math.max(accessTokenDuration, idTokenDuration)),
    ...(isWithdrawn === undefined ? {} : { isWithdrawn }),
  })
}
