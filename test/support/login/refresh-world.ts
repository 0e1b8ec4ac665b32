/** What a refresh happens in: the real store in memory, real signing keys, and a clock that stands still. */
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { systemRandom } from '../../../src/base/secrets/random.ts'
import type { Secret } from '../../../src/base/secrets/secret.ts'
import { createVault } from '../../../src/base/secrets/vault.ts'
import { days, hours, minutes, seconds } from '../../../src/base/time/duration.ts'
import { plus } from '../../../src/base/time/instant.ts'
import type { AuditEvent } from '../../../src/domain/audit/events.ts'
import { createFoldRepeats } from '../../../src/domain/audit/fold-repeats.ts'
import { createGuessOrder } from '../../../src/domain/factors/guessing/guess-order.ts'
import { newRefreshToken, refreshTokenHash } from '../../../src/domain/factors/refresh-token.ts'
import type { AuthPolicy } from '../../../src/domain/policies/auth-policy.ts'
import type { OidcSession, SessionEnding } from '../../../src/domain/sessions/api-session.ts'
import { tellCopies } from '../../../src/domain/sessions/ending/tell-copies.ts'
import { createSigningKeys } from '../../../src/domain/tokens/keys/signing-keys.ts'
import type { TokenPorts } from '../../../src/domain/tokens/ports.ts'
import { type Refresh, refresh as refreshTokens } from '../../../src/domain/tokens/refresh.ts'
import type { Scope } from '../../../src/protocol/oidc.ts'
import { openStore } from '../../../src/store/open.ts'
import { ManualClock, NOON } from '../clocks/manual-clock.ts'
import { fakePorts, storePorts } from '../fake-ports.ts'
import { anIdentity, anOidcSession, aPassword, aPolicy, CALLER, rulesOf } from '../people.ts'

export const ACCESS = minutes(30)
export const REFRESH = hours(24)
const SCOPES: readonly Scope[] = ['openid', 'profile', 'offline_access']
export const PASSWORD = aPassword()
export const { id: AUTHENTICATOR } = PASSWORD

interface Options {
  readonly retryWindow?: ReturnType<typeof seconds>
  readonly session?: Partial<OidcSession>
}

export const SESSION = anOidcSession().id
export type World = Awaited<ReturnType<typeof world>>

/** An identity with a password, a session of its own, and the refresh token of that session. */
export async function world(t: TestContext, options: Options = {}) {
  /** Of commits that have happened. */
  const events: AuditEvent[] = []
  const store = await openStore({ kind: 'sqlite', path: ':memory:' }, (kept) => {
    events.push(...kept.map(({ event }) => event))
  })
  t.after(() => store.close())
  const clock = new ManualClock()
  const vault = createVault(randomBytes(32), systemRandom)
  const random = systemRandom
  const felt: SessionEnding[] = []
  const rules = { ...rulesOf({}), policy: (): AuthPolicy | undefined => aPolicy() }
  /** What happens while the tokens are being signed: after the last signature. */
  const meanwhile = { happen: async (): Promise<unknown> => undefined }

  /** What every transaction waits for, after its commit. */
  const disk = { sync: async (): Promise<unknown> => undefined }
  const transaction = tellCopies(store.transaction, {
    endedSessions: { add: (ending) => felt.push(ending) },
    rules: { refresh: async () => {} },
  })

  const signingKeys = createSigningKeys({
    store: store.signingKeys,
    vault,
    clock,
    algorithms: { access: 'ES256', id: 'ES256' },
    rotation: days(90),
    tokenLife: ACCESS,
  })
  await signingKeys.rotateIfDue()
  const ports = fakePorts<TokenPorts>({
    ...storePorts(store),
    clock,
    random,
    vault,
    rules,
    foldRepeats: createFoldRepeats({ clock }),
    clientId: 'service',
    otherClientIds: [],
    audience: 'service',
    signingKeys: {
      async sign(kind, claimsFor) {
        const signed = await signingKeys.sign(kind, claimsFor)
        if (kind === 'id') await meanwhile.happen()
        return signed
      },
    },
    async transaction(work) {
      const result = await transaction(work)
      await disk.sync()
      return result
    },
    beginGuess: createGuessOrder(),
    accessTokenLife: ACCESS,
    idTokenLife: ACCESS,
    refreshTokenDuration: REFRESH,
  })
  const withWindow = (refreshRetryWindow = options.retryWindow ?? seconds(0)) => {
    const windowed = fakePorts<TokenPorts>({ ...ports, refreshRetryWindow })
    return (wish: Refresh) => refreshTokens(windowed, wish)
  }
  const refresh = withWindow()
  const ask = (token: Secret, changes: Partial<Refresh> = {}) => ({
    clientId: 'service',
    refreshToken: token,
    scope: undefined,
    caller: CALLER,
    ...changes,
  })

  await store.authPolicies.insert(aPolicy())
  await store.identities.insert(anIdentity())
  await store.authenticators.insert(PASSWORD)
  const open = async (changes: Partial<OidcSession> = {}): Promise<Secret> => {
    const session = anOidcSession({ scopes: SCOPES, ...options.session, ...changes })
    await store.apiSessions.insert(session)
    const token = newRefreshToken(random)
    await store.refreshTokens.insert({
      hash: refreshTokenHash(vault, token),
      sessionId: session.id,
      issuedAt: NOON,
      expiresAt: plus(NOON, REFRESH),
      spent: undefined,
    })
    return token
  }

  return {
    store,
    clock,
    vault,
    rules,
    felt,
    meanwhile,
    disk,
    token: await open(),
    open,
    withWindow,
    refresh: (token: Secret, changes?: Partial<Refresh>) => refresh(ask(token, changes)),
    ask,
    stored: (token: Secret) => store.refreshTokens.find(refreshTokenHash(vault, token)),
    happened: () => events.map((event) => event.type),
    last: () => events.at(-1),
  }
}
