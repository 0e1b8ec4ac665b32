/**
 * Config → every use case, wired. Reads as a list of what depends on what; nothing runs yet.
 */
import type { Clock } from '../base/clock.ts'
import { milliseconds } from '../base/duration.ts'
import type { Random } from '../base/random.ts'
import type { Vault } from '../base/vault.ts'
import type { Config } from '../config/config.ts'
import { createRecordEvent } from '../domain/audit/record.ts'
import type { PasswordHashing } from '../domain/factors/hashing.ts'
import { createPasswordFactor } from '../domain/factors/password.ts'
import { createFindRequest } from '../domain/login/find-request.ts'
import { createStartLogin } from '../domain/login/start.ts'
import { createSubmitPassword } from '../domain/login/submit-password.ts'
import { createAuthenticateCall } from '../domain/sessions/authenticate-call.ts'
import { createCurrentIdentity, createCurrentSession } from '../domain/sessions/current-session.ts'
import { createEndSession } from '../domain/sessions/end-session.ts'
import { createEndedSessions } from '../domain/sessions/ended-sessions.ts'
import type { Store } from '../domain/stores.ts'
import { createExchangeCode } from '../domain/tokens/exchange-code.ts'
import { createIssueTokens } from '../domain/tokens/issue.ts'
import { createSigningKeys, type SigningKeys } from '../domain/tokens/signing-keys.ts'
import type { Issuer } from '../protocol/oidc.ts'

export interface Parts {
  readonly config: Config
  readonly store: Store
  readonly vault: Vault
  readonly hashing: PasswordHashing
  readonly clock: Clock
  readonly random: Random
  /** Every issuer of this controller; known once its listeners listen. */
  readonly issuers: () => readonly Issuer[]
}

export function compose(parts: Parts) {
  const { config, store, clock, random, vault } = parts
  const { brand } = config
  const lifetimes = {
    accessToken: config.tokens.accessTokenDuration,
    idToken: config.tokens.idTokenDuration,
  }
  /** What nearly everybody needs; functions take from it what they ask for. */
  const common = { ...store, clock, random, vault, brand, clientId: brand, audience: brand }

  const recordEvent = createRecordEvent(common)
  const signingKeys = composeSigningKeys(parts)
  const endedSessions = createEndedSessions(common)
  const endSession = createEndSession({
    ...common,
    recordEvent,
    endedSessions,
    accessTokenLife: lifetimes.accessToken,
  })
  const password = createPasswordFactor({ ...common, hashing: parts.hashing })
  const issueTokens = createIssueTokens({ ...common, signingKeys, lifetimes, recordEvent })

  return {
    signingKeys,
    endedSessions,
    startLogin: createStartLogin(common),
    findRequest: createFindRequest(common),
    submitPassword: createSubmitPassword({ ...common, password, recordEvent }),
    exchangeCode: createExchangeCode({ ...common, issueTokens, endSession }),
    authenticateCall: createAuthenticateCall({
      brand,
      issuers: parts.issuers,
      signingKeys,
      endedSessions,
    }),
    currentSession: createCurrentSession(common),
    currentIdentity: createCurrentIdentity(common),
  }
}

/** Apart, because `latchkey keys rotate` needs these and nothing else. */
export function composeSigningKeys(
  parts: Pick<Parts, 'config' | 'store' | 'vault' | 'clock'>,
): SigningKeys {
  const { config, store, vault, clock } = parts
  const { accessTokenDuration, idTokenDuration } = config.tokens
  return createSigningKeys({
    store: store.signingKeys,
    vault,
    clock,
    algorithm: config.keys.algorithm,
    rotation: config.keys.rotation,
    tokenLife: milliseconds(Math.max(accessTokenDuration, idTokenDuration)),
  })
}
