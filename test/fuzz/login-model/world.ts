/**
 * The real thing that the model of the logins is compared with: the use cases as `compose` puts them together, on
 * SQLite in memory, with time that moves by hand, chance that repeats itself, and passwords that cost nothing.
 *
 * It answers in words and knows nothing about what is right.
 */

import { createHash } from 'node:crypto'
import { decodeJwt } from 'jose'
import { compose } from '../../../src/app/compose/compose.ts'
import { utf8 } from '../../../src/base/encoding.ts'
import type { Log } from '../../../src/base/log.ts'
import { Secret } from '../../../src/base/secrets/secret.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../../src/base/secrets/vault.ts'
import type { Duration } from '../../../src/base/time/duration.ts'
import {
  cancelEnrollmentInLogin,
  startEnrollmentInLogin,
  verifyEnrollmentInLogin,
} from '../../../src/domain/login/enroll-second-factor.ts'
import type { LoginStep } from '../../../src/domain/login/finish.ts'
import type { StepOrigin } from '../../../src/domain/login/request/browser-binding.ts'
import {
  findOpenRequest,
  findRequestForEnrollment,
  findRequestForTotp,
} from '../../../src/domain/login/request/find-request.ts'
import { startLogin } from '../../../src/domain/login/start.ts'
import { submitPrimary } from '../../../src/domain/login/submit-primary.ts'
import { submitSecondFactor } from '../../../src/domain/login/submit-second-factor.ts'
import {
  disableIdentity,
  enableIdentity,
  removeMfa,
} from '../../../src/domain/management/manage-identities.ts'
import { exchangeCode } from '../../../src/domain/tokens/exchange-code.ts'
import { Failure, type FailureCode } from '../../../src/errors/catalogue.ts'
import type { Issuer } from '../../../src/protocol/oidc.ts'
import { DEFAULT_REDIRECT_PATTERNS } from '../../../src/protocol/redirect-uri.ts'
import { openStore } from '../../../src/store/open.ts'
import { ManualClock } from '../../support/clocks/manual-clock.ts'
import { CALLER } from '../../support/people.ts'
import {
  type Demanded,
  FREE_HASHING,
  fill,
  identityId,
  NAMES,
  type Name,
  nameOf,
  policyOf,
  repeatableRandom,
  type Surroundings,
} from './surroundings.ts'

/** What a step was answered with. */
export type Outcome =
  | { readonly word: 'code'; readonly code: string }
  | { readonly word: 'more'; readonly isEnrolled: boolean }
  | { readonly word: 'enrolling'; readonly url: string; readonly recoveryCodes: readonly string[] }
  | { readonly word: 'tokens'; readonly owner: Name; readonly amr: readonly string[] }
  | { readonly word: 'done' }
  | { readonly word: FailureCode }

export interface World {
  readonly clock: ManualClock
  /** The instance goes on following the rules. */
  passTime(time: Duration): Promise<void>
  readonly jwts: Surroundings['jwts']
  begin(): { readonly id: string; readonly verifier: string }
  password(id: string, login: PasswordLogin): Promise<Outcome>
  totp(id: string, code: string): Promise<Outcome>
  startEnrollment(id: string): Promise<Outcome>
  verifyEnrollment(id: string, code: string): Promise<Outcome>
  cancelEnrollment(id: string): Promise<Outcome>
  exchange(code: string, verifier: string): Promise<Outcome>
  demand(of: Name, demanded: Demanded): Promise<void>
  disable(who: Name, forMinutes: number): Promise<Outcome>
  enable(who: Name): Promise<Outcome>
  removeMfa(of: Name): Promise<Outcome>
  /** Whose login it is; for the one case where the answers leave it open. */
  ownerOf(id: string): Promise<Name>
  close(): Promise<void>
}

export interface PasswordLogin {
  readonly username: Name
  readonly password: string
  readonly jwt: string | undefined
}

const ISSUER = 'https://localhost:1280/oidc' as Issuer
const REDIRECT_URI = 'http://127.0.0.1:9876/callback'
const HOSTNAME = 'id.example.org'
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** Programs, not browsers: D-10 has its own tests. */
const PROGRAM: StepOrigin = { isBrowser: false, isForeignPost: false, cookie: () => undefined }

/** Two identities with a password each, and a policy each. */
export async function openWorld(surroundings: Surroundings): Promise<World> {
  const { config, authorities, signer, jwts } = surroundings
  const clock = new ManualClock()
  const random = repeatableRandom()
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  await fill(
    store,
    signer,
    NAMES.map((name) => policyOf(name)),
  )

  const ports = compose({
    config,
    store,
    vault: createVault(random.bytes(INSTALLATION_SECRET_BYTES), random),
    hashing: FREE_HASHING,
    authorities,
    clock,
    random,
    log: SILENT,
    issuers: () => [ISSUER],
    clientApi: () => undefined,
    past: () => clock.now(),
  })
  await ports.rules.refresh()
  await ports.signingKeys.rotateIfDue()
  const caller = CALLER

  return {
    clock,
    jwts,

    passTime(time) {
      clock.pass(time)
      return ports.rules.refresh()
    },

    begin() {
      const verifier = Buffer.from(random.bytes(32)).toString('base64url')
      const started = startLogin(ports, {
        issuer: ISSUER,
        allowedRedirects: DEFAULT_REDIRECT_PATTERNS,
        parameters: new Map(
          Object.entries(asked(verifier)).map(([name, value]) => [name, [value]]),
        ),
        isBrowser: false,
        hasCertificate: false,
      })
      if (started.next !== 'login') throw new Error('a good authorization request was refused')
      return { id: started.authRequestId, verifier }
    },

    password: (id, { username, password, jwt }) =>
      step(async () =>
        submitPrimary(ports, {
          request: await findOpenRequest(ports, id, PROGRAM),
          credential: {
            method: 'password',
            credentials: { username, password: new Secret(password) },
          },
          bearers: jwt === undefined ? [] : [new Secret(jwt)],
          configTypes: [],
          caller,
        }),
      ),

    totp: (id, code) =>
      step(async () => {
        const request = await findRequestForTotp(ports, id, PROGRAM)
        return submitSecondFactor(ports, { factor: 'totp', request, code, caller })
      }),

    startEnrollment: (id) =>
      answered(async () => {
        const request = await findRequestForEnrollment(ports, id, PROGRAM)
        const started = await startEnrollmentInLogin(ports, {
          factor: 'totp',
          request,
          hostname: HOSTNAME,
        })
        const { setup, recoveryCodes } = started
        return { word: 'enrolling', url: setup.provisioningUrl, recoveryCodes }
      }),

    verifyEnrollment: (id, code) =>
      step(async () => {
        const request = await findRequestForEnrollment(ports, id, PROGRAM)
        return verifyEnrollmentInLogin(ports, { factor: 'totp', request, answer: code, caller })
      }),

    cancelEnrollment: (id) =>
      done(async () =>
        cancelEnrollmentInLogin(ports, {
          factor: 'totp',
          request: await findRequestForEnrollment(ports, id, PROGRAM),
        }),
      ),

    exchange: (code, verifier) =>
      answered(async () => {
        const tokens = await exchangeCode(ports, {
          clientId: config.brand,
          code: new Secret(code),
          redirectUri: REDIRECT_URI,
          codeVerifier: new Secret(verifier),
          caller,
        })
        const { sub, amr } = decodeJwt<{ amr: readonly string[] }>(tokens.accessToken)
        return { word: 'tokens', owner: nameOf(sub ?? ''), amr }
      }),

    async demand(of, demanded) {
      await store.transaction(async (tx) => {
        await tx.authPolicies.replace(policyOf(of, demanded, signer.id))
        await tx.ruleVersions.raise()
      })
      await ports.rules.refresh()
    },

    disable: (who, forMinutes) =>
      done(() => disableIdentity(ports, identityId(who), forMinutes, caller)),
    enable: (who) => done(() => enableIdentity(ports, identityId(who), caller)),
    removeMfa: (of) => done(() => removeMfa(ports, identityId(of), caller)),

    async ownerOf(id) {
      const request = await findOpenRequest(ports, id, PROGRAM)
      if (request.state === 'awaiting-primary') throw new Error('nobody has logged in')
      return nameOf(request.primary.identityId)
    },

    close: () => store.close(),
  }
}

const asked = (verifier: string) => ({
  response_type: 'code',
  client_id: 'service',
  redirect_uri: REDIRECT_URI,
  scope: 'openid',
  code_challenge: createHash('sha256').update(utf8(verifier)).digest('base64url'),
  code_challenge_method: 'S256',
})

function step(work: () => Promise<LoginStep>): Promise<Outcome> {
  return answered(async () => {
    const taken = await work()
    if (taken.next === 'answer') {
      const [, code = ''] = taken.answer.parameters.find(([name]) => name === 'code') ?? []
      return { word: 'code', code }
    }
    const [query] = taken.authQueries
    return { word: 'more', isEnrolled: query?.typeId === 'MFA' && query.isTotpEnrolled }
  })
}

function done(work: () => Promise<unknown>): Promise<Outcome> {
  return answered(async () => {
    await work()
    return { word: 'done' }
  })
}

async function answered(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure) return { word: error.code }
    throw error
  }
}
