/**
 * Login on a machine without a browser: RFC 8628. The user opens the address on another device, enters the code, and
 * approves; until then we poll as slowly as the server wants.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { isText } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Instant, instant } from '../../base/time/instant.ts'
import { DEVICE_CODE_GRANT } from '../../protocol/oauth.ts'
import { LoginCancelled, LoginRefused, ServerUnavailable, UnexpectedAnswer } from '../errors.ts'
import type { Session, SessionOptions } from '../session.ts'
import type { TokenAnswer } from '../tokens.ts'
import { codeOf, jsonOf, refusalIn, refusalOf } from '../wire/answers.ts'
import { formRequest, type Wire, type WireAnswer } from '../wire/https-wire.ts'
import type { Provider } from '../wire/provider.ts'
import type { Wishes } from './authorization.ts'

export interface DeviceLoginOptions extends Pick<Wishes, 'scopes' | 'dpop'>, SessionOptions {
  readonly signal?: AbortSignal
}

export interface DeviceLogin {
  /** The user enters it at `verificationUri`: `XXXX-XXXX`. */
  readonly userCode: string
  readonly verificationUri: string
  /** The same address with the code in it, for a QR code. */
  readonly verificationUriComplete: string
  /** How long the user has, from the server's answer on. */
  readonly expiresInSeconds: number
  /**
   * Returns the session, once the user has approved. Throws LoginRefused (`access_denied`, `expired_token`),
   * LoginCancelled, and what `logIn` throws.
   */
  finish(): Promise<Session>
  /** Stops polling. */
  cancel(): void
}

/** RFC 8628 §3.2, §3.5. */
const DEFAULT_INTERVAL_SECONDS = 5
const SLOWER_BY_SECONDS = 5
const LONGEST_SECONDS = 86_400

/** As our server writes it; the text is shown in a terminal. */
const USER_CODE = /^[\w-]{1,32}$/

export async function beginDeviceLogin(
  deps: {
    readonly wire: Pick<Wire, 'send'>
    readonly provider: Pick<Provider, 'issuer' | 'deviceAuthorization'>
    readonly clientId: string
    readonly clock: Pick<Clock, 'now'>
    readonly tokens: {
      poll(
        form: Readonly<Record<string, string>>,
        signal: AbortSignal | undefined,
      ): Promise<TokenAnswer | WireAnswer>
    }
    /** Replaced by tests that do not wait. */
    readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>
  },
  options: DeviceLoginOptions,
  begin: (got: TokenAnswer) => Promise<Session>,
): Promise<DeviceLogin> {
  const { wire, provider, clientId, clock, tokens, wait = waitFor } = deps
  const { scopes = ['offline_access'], signal } = options
  if (provider.deviceAuthorization === undefined) {
    throw new UnexpectedAnswer('the server offers no login for devices without a browser')
  }
  const askedAt = clock.now()
  const fields = { client_id: clientId, scope: ['openid', ...scopes].join(' ') }
  const answer = await wire.send({ ...formRequest(provider.deviceAuthorization, fields), signal })
  if (answer.status !== 200) throw refusalOf(answer, 'the login')
  const asked = readAnswer(jsonOf(answer) ?? {}, provider.issuer, askedAt)
  const given = new AbortController()
  const stop = signal === undefined ? given.signal : AbortSignal.any([given.signal, signal])

  async function finish(): Promise<Session> {
    let seconds = asked.intervalSeconds
    for (;;) {
      await wait(seconds * 1_000, stop)
      if (clock.now() >= asked.expiresAt) throw expired({ status: 400 })
      try {
        const outcome = await tokens.poll(
          { grant_type: DEVICE_CODE_GRANT, device_code: asked.deviceCode },
          stop,
        )
        if ('accessToken' in outcome) return await begin(outcome)
        const code = codeOf(outcome)
        if (code === 'slow_down') seconds += SLOWER_BY_SECONDS
        else if (code === 'expired_token') throw expired(refusalIn(outcome))
        else if (code === 'access_denied') {
          throw new LoginRefused(code, 'the user denied the login', refusalIn(outcome))
        } else if (code !== 'authorization_pending') throw refusalOf(outcome, 'the login')
      } catch (error) {
        if (!(error instanceof ServerUnavailable)) throw error
        // RFC 8628 §3.5: after a timeout ask less often, until the code expires.
        seconds = Math.min(seconds * 2, 60)
      }
    }
  }

  const { userCode, verificationUri, verificationUriComplete, expiresInSeconds } = asked
  return {
    userCode,
    verificationUri,
    verificationUriComplete,
    expiresInSeconds,
    finish: () =>
      finish().catch((error: unknown) => {
        if (!given.signal.aborted) throw error
        throw new LoginCancelled('CANCELLED', 'the login was given up')
      }),
    cancel: () => given.abort(),
  }
}

async function waitFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds, undefined, { signal })
}

function expired(refusal: ConstructorParameters<typeof LoginRefused>[2]): LoginRefused {
  return new LoginRefused('expired_token', 'the code expired before the user approved', refusal)
}

interface Asked extends Omit<DeviceLogin, 'finish' | 'cancel'> {
  readonly deviceCode: string
  readonly expiresAt: Instant
  readonly intervalSeconds: number
}

/** The addresses must be those of the server: the user is going to sign in there. */
function readAnswer(
  json: Readonly<Record<string, unknown>>,
  issuer: string,
  askedAt: Instant,
): Asked {
  const { device_code, user_code, verification_uri, expires_in, interval } = json
  const { verification_uri_complete = verification_uri } = json
  const { origin } = new URL(issuer)
  const isHere = (text: unknown): text is string =>
    typeof text === 'string' && /^[!-~]+$/.test(text) && URL.parse(text)?.origin === origin
  const isTime = (value: unknown): value is number =>
    typeof value === 'number' && value > 0 && value <= LONGEST_SECONDS
  const isWhole =
    isText(device_code) &&
    typeof user_code === 'string' &&
    USER_CODE.test(user_code) &&
    isHere(verification_uri) &&
    isHere(verification_uri_complete) &&
    isTime(expires_in) &&
    (interval === undefined || isTime(interval))
  if (!isWhole) throw new UnexpectedAnswer('the answer for a device cannot be read')
  return {
    deviceCode: device_code,
    userCode: user_code,
    verificationUri: verification_uri,
    verificationUriComplete: verification_uri_complete,
    expiresInSeconds: expires_in,
    expiresAt: instant(askedAt + expires_in * 1_000),
    intervalSeconds: interval ?? DEFAULT_INTERVAL_SECONDS,
  }
}
