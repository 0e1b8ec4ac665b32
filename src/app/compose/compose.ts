/**
 * Config → every use case, wired. Reads as a list of what depends on what; nothing runs yet.
 */

import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import { milliseconds } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { Config } from '../../config/config.ts'
import { beginAccountLogin, finishAccountLogin } from '../../domain/account/login.ts'
import {
  findOwnAuthenticator,
  listOwnAuthenticators,
  updateOwnAuthenticator,
} from '../../domain/account/own-authenticators.ts'
import {
  authenticateAccount,
  formToken,
  isFormToken,
  isFreshLogin,
  sealAccountSession,
} from '../../domain/account/session.ts'
import { createFoldRepeats } from '../../domain/audit/fold-repeats.ts'
import { authenticateCall } from '../../domain/calls/authenticate-call.ts'
import { authenticateRouter } from '../../domain/calls/routers/authenticate-router.ts'
import { checkForRouter } from '../../domain/calls/routers/check-for-router.ts'
import { createProvenRouters } from '../../domain/calls/routers/proven-routers.ts'
import { openRouterFeed } from '../../domain/calls/routers/router-feed.ts'
import type { CertificateAuthorities } from '../../domain/certificates/own/authorities.ts'
import type { ClientApi } from '../../domain/enrollments/enrollment-jwt.ts'
import { createCountRenewal } from '../../domain/enrollments/renewal/renewal-limit.ts'
import { createFindEndpoints } from '../../domain/ext-jwt/idp/endpoints.ts'
import { createSignerKeys, type FetchOutcome } from '../../domain/ext-jwt/signer-keys.ts'
import { createAddressFailures } from '../../domain/factors/guessing/failures.ts'
import { createGuessOrder } from '../../domain/factors/guessing/guess-order.ts'
import { createTurns } from '../../domain/factors/guessing/turns.ts'
import type { PasswordHashing } from '../../domain/factors/passwords/hashing.ts'
import {
  cancelEnrollmentInLogin,
  pendingUrlInLogin,
  startEnrollmentInLogin,
  verifyEnrollmentInLogin,
} from '../../domain/login/enroll-totp.ts'
import { finishReturn, recogniseReturn } from '../../domain/login/external/come-back.ts'
import { keepPrimary } from '../../domain/login/external/kept-primary.ts'
import { sendAway } from '../../domain/login/external/send-away.ts'
import { queriesOf } from '../../domain/login/outstanding-queries.ts'
import {
  findOpenRequest,
  findRequestForEnrollment,
  findRequestForTotp,
} from '../../domain/login/request/find-request.ts'
import { startLogin } from '../../domain/login/start.ts'
import { submitPrimary } from '../../domain/login/submit-primary.ts'
import { submitTotp } from '../../domain/login/submit-totp.ts'
import {
  endAllSessions,
  endSessionById,
  endSessionsOf,
  findSession,
  listSessions,
  listSessionsOf,
} from '../../domain/management/manage-sessions.ts'
import { createRules } from '../../domain/policies/rules.ts'
import { authenticateLegacy } from '../../domain/sessions/authenticate-legacy.ts'
import {
  currentIdentity,
  currentSession,
  logOut,
  userinfo,
} from '../../domain/sessions/current-session.ts'
import { endExpired } from '../../domain/sessions/ending/end-expired.ts'
import { createEndedSessions } from '../../domain/sessions/ending/ended-sessions.ts'
import { tellCopies } from '../../domain/sessions/ending/tell-copies.ts'
import { createLegacySessionCache } from '../../domain/sessions/legacy-session-cache.ts'
import {
  endOtherSessions,
  endOwnSession,
  listOwnSessions,
} from '../../domain/sessions/own-sessions.ts'
import {
  countRecoveryCodes,
  proveInSession,
  readEnrollmentInSession,
  removeEnrollmentInSession,
  renewRecoveryCodes,
  startEnrollmentInSession,
  verifyEnrollmentInSession,
} from '../../domain/sessions/session-mfa.ts'
import type { Store } from '../../domain/stores.ts'
import { endByHint } from '../../domain/tokens/end-by-hint.ts'
import { exchangeCode } from '../../domain/tokens/exchange-code.ts'
import { introspect } from '../../domain/tokens/introspect.ts'
import { findKey, listKeys, rotateKeysOnDemand } from '../../domain/tokens/keys/manage-keys.ts'
import {
  revokeOlderKeys,
  rotateKeys,
  rotateKeysIfDue,
} from '../../domain/tokens/keys/rotate-keys.ts'
import { createSigningKeys, type SigningKeys } from '../../domain/tokens/keys/signing-keys.ts'
import { refresh } from '../../domain/tokens/refresh.ts'
import { revokeToken } from '../../domain/tokens/revoke.ts'
import { createFetchJson, type FetchJson } from '../../outbound/fetch-json.ts'
import { createPostForm } from '../../outbound/post-form.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import { withPorts } from './with-ports.ts'

export interface Parts {
  readonly config: Config
  readonly store: Store
  readonly vault: Vault
  readonly hashing: PasswordHashing
  readonly authorities: CertificateAuthorities
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** Every issuer of this controller; known once its listeners listen. */
  readonly issuers: () => readonly Issuer[]
  /** Where the client API is reached, and what is shown there; known once its listener listens. */
  readonly clientApi: () => ClientApi | undefined
  /** The latest moment that is certainly past (D-230). */
  readonly past: () => Instant
  readonly onKeyFetch?: (outcome: FetchOutcome) => void
  /** Where fetches are traced. */
  readonly traceFetch?: ((fetchJson: FetchJson) => FetchJson) | undefined
}

/** D-155: the returns from an IdP that are completed at the same time, and those that may wait. */
const RETURNS = { concurrency: 16, queue: 256 }

export function compose(parts: Parts) {
  const { config, store, clock, random, vault, log, hashing, authorities, issuers } = parts
  const { brand, tokens } = config

  // What is kept in memory, fed from the store (D-34).
  const rules = createRules({ ...store, clock })
  const endedSessions = createEndedSessions({ ...store, clock })
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
    ...(parts.onKeyFetch === undefined ? {} : { onFetch: parts.onKeyFetch }),
  })

  const { fetch: fetchRules } = config.externalJwtSigners
  /** D-22: failures are counted separately for each kind of guessable secret. */
  const countFailures = () =>
    createAddressFailures({ limit: config.limits.failuresPerAddress, clock })

  /**
   * Everything that is replaceable, once: each use case takes from it what its ports type names. The store of the
   * signing keys and that of our CAs give their names to what is kept of them in memory; both exist inside a
   * transaction alone.
   */
  const ports = {
    ...store,
    transaction: tellCopies(store.transaction, { endedSessions, rules }),
    clock,
    random,
    vault,
    hashing,
    foldRepeats: createFoldRepeats({ clock }),
    brand,
    clientId: brand,
    audience: brand,
    trustDomain: config.trustDomain,
    issuers,
    clientApi: parts.clientApi,
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
    addressFailures: countFailures(),
    returnTurns: createTurns({ purpose: 'returns from an IdP', ...RETURNS }),
    enrollmentFailures: countFailures(),
    beginGuess: createGuessOrder(),
    beginEnrollmentRefusal: createGuessOrder(),
    countRenewal: createCountRenewal({ clock }),
    legacySessionCache: createLegacySessionCache({ clock }),
    provenRouters: createProvenRouters({ clock }),
    rejectsCommonPasswords: config.passwords.rejectCommon,
    sessionTimeout: config.api.sessionTimeout,
    sessionCertificateDuration: config.api.sessionCertificateDuration,
    maxSessionDuration: tokens.maxSessionDuration,
    refreshTokenDuration: tokens.refreshTokenDuration,
    refreshRetryWindow: tokens.refreshRetryWindow,
    accessTokenLife: tokens.accessTokenDuration,
    idTokenLife: tokens.idTokenDuration,
    enrollmentDuration: config.enrollment.duration,
    enrolledCertificateDuration: config.enrollment.certificateDuration,
  }

  return {
    ports,
    rules,
    signingKeys,
    signerKeys,
    endedSessions,
    caBundlePem: ports.caBundlePem,

    // Logins: what proofs lead to.
    ...withPorts(ports, {
      startLogin,
      submitPrimary,
      submitTotp,
      queriesOf,
      sendAway,
      keepPrimary,
    }),
    findRequest: withPorts(ports, {
      open: findOpenRequest,
      forTotp: findRequestForTotp,
      forEnrollment: findRequestForEnrollment,
    }),
    comeBack: withPorts(ports, { recognise: recogniseReturn, finish: finishReturn }),
    enrollInLogin: withPorts(ports, {
      start: startEnrollmentInLogin,
      pendingUrl: pendingUrlInLogin,
      verify: verifyEnrollmentInLogin,
      cancel: cancelEnrollmentInLogin,
    }),

    // Tokens.
    ...withPorts(ports, { exchangeCode, refresh, revokeToken, introspect }),
    rotateKeys: withPorts(ports, {
      ifDue: rotateKeysIfDue,
      next: rotateKeys,
      revokeOlder: revokeOlderKeys,
    }),

    // Sessions: what a finished login leaves behind.
    ...withPorts(ports, {
      authenticateLegacy,
      authenticateCall,
      authenticateRouter,
      checkForRouter,
      openRouterFeed,
      currentSession,
      currentIdentity,
      userinfo,
      endByHint,
      endExpired,
      logOut,
    }),
    sessionMfa: withPorts(ports, {
      prove: proveInSession,
      start: startEnrollmentInSession,
      read: readEnrollmentInSession,
      verify: verifyEnrollmentInSession,
      remove: removeEnrollmentInSession,
      countRecoveryCodes,
      renewRecoveryCodes,
    }),

    // The page of the own account. D-161 to D-163.
    accountLogin: withPorts(ports, { begin: beginAccountLogin, finish: finishAccountLogin }),
    accountSessions: withPorts(ports, {
      seal: sealAccountSession,
      authenticate: authenticateAccount,
      isFresh: isFreshLogin,
      formToken,
      isFormToken,
    }),
    ownSessions: withPorts(ports, {
      list: listOwnSessions,
      end: endOwnSession,
      endOthers: endOtherSessions,
    }),
    ownAuthenticators: withPorts(ports, {
      list: listOwnAuthenticators,
      find: findOwnAuthenticator,
      update: updateOwnAuthenticator,
    }),
    manageSessions: withPorts(ports, {
      list: listSessions,
      listOf: listSessionsOf,
      find: findSession,
      end: endSessionById,
      endAllOf: endSessionsOf,
      endAll: endAllSessions,
    }),
    manageKeys: withPorts(ports, { list: listKeys, find: findKey, rotate: rotateKeysOnDemand }),
  }
}

/** Apart, because `latchkey keys rotate` needs these and nothing else. */
export function composeSigningKeys(
  parts: Pick<Parts, 'config' | 'store' | 'vault' | 'clock'> & {
    readonly isWithdrawn?: (kid: string) => boolean
  },
): SigningKeys {
  const { config, store, vault, clock, isWithdrawn } = parts
  const { accessTokenDuration, idTokenDuration } = config.tokens
  return createSigningKeys({
    store: store.signingKeys,
    vault,
    clock,
    algorithm: config.keys.algorithm,
    rotation: config.keys.rotation,
    tokenLife: milliseconds(Math.max(accessTokenDuration, idTokenDuration)),
    ...(isWithdrawn === undefined ? {} : { isWithdrawn }),
  })
}
