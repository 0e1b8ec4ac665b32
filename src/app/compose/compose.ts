/**
 * Config → every use case, wired. Reads as a list of what depends on what; nothing runs yet.
 */

import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import { milliseconds } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { Config } from '../../config/config.ts'
import { createFoldRepeats } from '../../domain/audit/fold-repeats.ts'
import { type RecordEvent, recordEvent as recordWith } from '../../domain/audit/record.ts'
import { createCountRenewal } from '../../domain/certificates/enrolled/renewal-limit.ts'
import { judgeCertificate as judgeCertificateWith } from '../../domain/certificates/judge-certificate.ts'
import type { CertificateAuthorities } from '../../domain/certificates/own/authorities.ts'
import type { PresentedChain } from '../../domain/certificates/presented-chain.ts'
import type { Ca } from '../../domain/certificates/third-party/ca.ts'
import type { ClientApi } from '../../domain/enrollments/enrollment-jwt.ts'
import { createFindEndpoints } from '../../domain/ext-jwt/idp/endpoints.ts'
import { redeemCode } from '../../domain/ext-jwt/idp/redeem-code.ts'
import type { ExternalJwtSigner } from '../../domain/ext-jwt/signer.ts'
import { createSignerKeys, type FetchOutcome } from '../../domain/ext-jwt/signer-keys.ts'
import { verifyExternalJwt as verifyExternalJwtWith } from '../../domain/ext-jwt/verify.ts'
import { createCertificateFactor } from '../../domain/factors/client-certificate.ts'
import { createTotpEnrollments } from '../../domain/factors/enroll-totp.ts'
import {
  createCheckSecondaryJwt,
  createExternalJwtFactor,
} from '../../domain/factors/external-jwt.ts'
import { createAddressFailures } from '../../domain/factors/guessing/failures.ts'
import { createGuessOrder } from '../../domain/factors/guessing/guess-order.ts'
import { createKnownDevices } from '../../domain/factors/guessing/known-devices.ts'
import { createTurns } from '../../domain/factors/guessing/turns.ts'
import type { PasswordHashing } from '../../domain/factors/hashing.ts'
import {
  type HashNewPassword,
  hashNewPassword as hashWith,
} from '../../domain/factors/new-password.ts'
import { createPasswordFactor } from '../../domain/factors/password.ts'
import { createCheckCode } from '../../domain/factors/totp.ts'
import { createOwnAuthenticators } from '../../domain/identities/own-authenticators.ts'
import { createCheckFinished } from '../../domain/login/again/check-finished.ts'
import { createCheckAgain } from '../../domain/login/check-again.ts'
import { createFindDemands } from '../../domain/login/demands.ts'
import { createEnrollInLogin } from '../../domain/login/enroll-totp.ts'
import { createComeBack } from '../../domain/login/external/come-back.ts'
import { createKeepPrimary } from '../../domain/login/external/kept-primary.ts'
import { createSendAway } from '../../domain/login/external/send-away.ts'
import { createFinishStep } from '../../domain/login/finish.ts'
import { createQueriesOf } from '../../domain/login/outstanding-queries.ts'
import { createProvePrimary } from '../../domain/login/prove-primary.ts'
import { createRefuseCode } from '../../domain/login/refuse-code.ts'
import { createFindRequest } from '../../domain/login/request/find-request.ts'
import { createStartLogin } from '../../domain/login/start.ts'
import {
  createSubmitKept,
  createSubmitPrimary,
  createSubmitReturned,
} from '../../domain/login/submit-primary.ts'
import { createSubmitTotp } from '../../domain/login/submit-totp.ts'
import { createRules } from '../../domain/policies/rules.ts'
import { createAuthenticateCall } from '../../domain/sessions/authenticate-call.ts'
import { createAuthenticateLegacy } from '../../domain/sessions/authenticate-legacy.ts'
import {
  createCurrentIdentity,
  createCurrentSession,
  createLogOut,
  createUserinfo,
} from '../../domain/sessions/current-session.ts'
import { createDemandSecondaryJwt } from '../../domain/sessions/demand-secondary-jwt.ts'
import { createEndByHint } from '../../domain/sessions/ending/end-by-hint.ts'
import { createEndExpired } from '../../domain/sessions/ending/end-expired.ts'
import {
  type EndSession,
  type EndSessionsWithin,
  endSession as endWith,
  endSessionsWithin as endWithin,
} from '../../domain/sessions/ending/end-session.ts'
import { createEndedSessions } from '../../domain/sessions/ending/ended-sessions.ts'
import { tellCopies } from '../../domain/sessions/ending/tell-copies.ts'
import { createLegacySessions } from '../../domain/sessions/legacy-sessions.ts'
import { createManageSessions } from '../../domain/sessions/manage-sessions.ts'
import { createAuthenticateRouter } from '../../domain/sessions/routers/authenticate-router.ts'
import { createCheckForRouter } from '../../domain/sessions/routers/check-for-router.ts'
import { createRouterFeed } from '../../domain/sessions/routers/router-feed.ts'
import { createDescribeSessions } from '../../domain/sessions/session-detail.ts'
import { createSessionMfa } from '../../domain/sessions/session-mfa.ts'
import type { Store } from '../../domain/stores.ts'
import { createExchangeCode } from '../../domain/tokens/exchange-code.ts'
import { createIntrospect } from '../../domain/tokens/introspect.ts'
import { createIssueTokens } from '../../domain/tokens/issue.ts'
import { createManageKeys } from '../../domain/tokens/keys/manage-keys.ts'
import { createRotateKeys } from '../../domain/tokens/keys/rotate-keys.ts'
import { createSignTokens } from '../../domain/tokens/keys/sign-tokens.ts'
import { createSigningKeys, type SigningKeys } from '../../domain/tokens/keys/signing-keys.ts'
import { createOwnTokens } from '../../domain/tokens/own-token.ts'
import { createRecordRefusal } from '../../domain/tokens/record-refusal.ts'
import { createRefresh } from '../../domain/tokens/refresh.ts'
import { createRevokeToken } from '../../domain/tokens/revoke.ts'
import { createFetchJson, type FetchJson } from '../../outbound/fetch-json.ts'
import { createPostForm } from '../../outbound/post-form.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import { composeAccount } from './compose-account.ts'

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
  const lifetimes = { accessToken: tokens.accessTokenDuration, idToken: tokens.idTokenDuration }

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

  // For use cases that do not take ports yet.
  const recordEvent: RecordEvent = (...given) => recordWith(ports, ...given)
  const endSession: EndSession = (end) => endWith(ports, end)
  const endSessionsWithin: EndSessionsWithin = (...given) => endWithin(ports, ...given)
  const hashNewPassword: HashNewPassword = (...given) => hashWith(ports, ...given)
  const names = { brand, clientId: brand, audience: brand }
  const { transaction } = ports
  const common = {
    ...store,
    transaction,
    clock,
    random,
    vault,
    ...names,
    recordEvent,
    rules,
    endedSessions,
  }
  const sessionLife = {
    timeout: ports.sessionTimeout,
    maxSessionDuration: ports.maxSessionDuration,
    refreshTokenDuration: ports.refreshTokenDuration,
    refreshRetryWindow: ports.refreshRetryWindow,
  }

  // Factors: each judges one kind of proof.
  const verifyExternalJwt = (signer: ExternalJwtSigner, token: Secret) =>
    verifyExternalJwtWith(ports, signer, token)
  const judgeCertificate = (chain: PresentedChain, cas: readonly Ca[]) =>
    judgeCertificateWith(ports, chain, cas)
  const password = createPasswordFactor({ ...common, hashing })
  const certificate = createCertificateFactor({ ...common, judgeCertificate })
  const externalJwt = createExternalJwtFactor({ ...common, verifyExternalJwt })
  const checkSecondaryJwt = createCheckSecondaryJwt({ verifyExternalJwt })
  const checkCode = createCheckCode(common)
  const totpEnrolling = createTotpEnrollments(common)

  // Logins: what the proofs lead to.
  const provePrimary = createProvePrimary({
    ...common,
    password,
    certificate,
    externalJwt,
    addressFailures: ports.addressFailures,
    knownDevices: createKnownDevices(common),
    beginGuess: ports.beginGuess,
  })
  const checkAgain = createCheckAgain(common)
  const steps = {
    ...common,
    provePrimary,
    checkSecondaryJwt,
    checkCode,
    totpEnrolling,
    checkAgain,
    checkFinished: createCheckFinished({ ...common, checkAgain }),
    findDemands: createFindDemands(common),
    finishStep: createFinishStep(common),
    refuseCode: createRefuseCode(common),
    recordRefusal: createRecordRefusal(common),
  }

  const findRequest = createFindRequest(common)
  const submitPrimary = createSubmitPrimary(steps)

  // Logins that go through an IdP: D-47.
  const { findEndpoints } = ports
  const external = {
    sendAway: createSendAway({ ...common, findEndpoints }),
    comeBack: createComeBack({
      ...common,
      findRequest,
      findEndpoints,
      redeemCode: (redemption) => redeemCode(ports, redemption),
      submitReturned: createSubmitReturned(steps),
      submitKept: createSubmitKept(steps),
      returnTurns: ports.returnTurns,
    }),
  }

  // Sessions and tokens: what a finished login leaves behind.
  const describeSessions = createDescribeSessions(common)
  const ownTokens = createOwnTokens({ ...common, issuers, signingKeys })
  const signTokens = createSignTokens({ ...common, signingKeys, lifetimes })
  const issueTokens = createIssueTokens({ ...common, ...sessionLife, signTokens })
  const demandSecondaryJwt = createDemandSecondaryJwt({ ...common, checkSecondaryJwt })
  const rotateKeys = createRotateKeys({ ...common, signingKeys })
  const legacySessions = createLegacySessions({ ...common, ...sessionLife, demandSecondaryJwt })
  const startLogin = createStartLogin(common)
  const exchangeCode = createExchangeCode({ ...steps, issueTokens, endSession })
  const authenticateCall = createAuthenticateCall({
    ...common,
    issuers,
    signingKeys,
    legacySessions,
    demandSecondaryJwt,
  })

  return {
    ports,
    rules,
    signingKeys,
    rotateKeys,
    signerKeys,
    endedSessions,
    startLogin,
    findRequest,
    submitPrimary,
    ...external,
    keepPrimary: createKeepPrimary(common),
    submitTotp: createSubmitTotp(steps),
    enrollInLogin: createEnrollInLogin(steps),
    queriesOf: createQueriesOf(steps),
    exchangeCode,
    refresh: createRefresh({ ...steps, ...sessionLife, signTokens, endSession }),
    revokeToken: createRevokeToken({ ...common, ownTokens, endSession }),
    introspect: createIntrospect({ ...steps, ownTokens }),
    endByHint: createEndByHint({ ...common, ownTokens, endSession }),
    userinfo: createUserinfo(common),
    authenticateLegacy: createAuthenticateLegacy({ ...steps, ...sessionLife }),
    sessionMfa: createSessionMfa({ ...steps, legacySessions }),
    authenticateCall,
    authenticateRouter: createAuthenticateRouter({ clock, provePrimary }),
    openRouterFeed: createRouterFeed({
      ...common,
      issuers,
      signingKeys,
      trustDomain: config.trustDomain,
      caBundlePem: () => authorities.caBundlePem,
    }),
    caBundlePem: () => authorities.caBundlePem,
    checkForRouter: createCheckForRouter({ ...common, legacySessions }),
    currentSession: createCurrentSession({ ...common, describeSessions }),
    currentIdentity: createCurrentIdentity(common),
    ownAuthenticators: createOwnAuthenticators({
      ...common,
      provePrimary,
      hashNewPassword,
      endSessionsWithin,
    }),
    ...composeAccount({
      ...common,
      startLogin,
      exchangeCode,
      authenticateCall,
      endSessionsWithin,
    }),
    endExpired: createEndExpired({ ...common, past: parts.past, endSessionsWithin }),
    logOut: createLogOut({ endSession }),
    manageSessions: createManageSessions({ ...common, endSessionsWithin, describeSessions }),
    manageKeys: createManageKeys({ signingKeys, rotateKeys }),
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
