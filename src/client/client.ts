/**
 * `latchkey/client`: for programs that log in. Every method and factor, sessions that refresh themselves, session
 * certificates, and login in a browser. docs/client.md. It needs only Node and jose, and no part of the server.
 */

import { type Random, systemRandom } from '../base/secrets/random.ts'
import { type Clock, systemClock } from '../base/time/clock.ts'
import { beginSession, beginWithTokens } from './begin-session.ts'
import { createIdTokens } from './id-token.ts'
import { authorizationUrl, newProof, type Proof, type Wishes } from './login/authorization.ts'
import { type BrowserLogin, type BrowserLoginOptions, beginBrowserLogin } from './login/browser.ts'
import { type Credential, certificateOf } from './login/credentials.ts'
import { beginDeviceLogin, type DeviceLogin, type DeviceLoginOptions } from './login/device.ts'
import type { Factors } from './login/factors.ts'
import { logInForCode } from './login/log-in.ts'
import { codeOfRedirect, type RedirectLogin } from './login/redirect.ts'
import { newProofKey, type ProofKey, restoreProofKey } from './proof-key.ts'
import { readSavedSession, type SavedSession } from './saved-session.ts'
import { createSession, type Server, type Session, type SessionOptions } from './session.ts'
import { createTokenEndpoint } from './tokens.ts'
import { codeOf } from './wire/answers.ts'
import {
  type ClientCertificate,
  createWire,
  TIMEOUT_MILLISECONDS,
  type Wire,
} from './wire/https-wire.ts'
import { discover, parseOrigin } from './wire/provider.ts'

export type { AuthQuery, ExtJwtQuery, TotpQuery } from '../protocol/auth-query.ts'
export type { ReceivedChallenge } from '../protocol/challenge.ts'
export type { Call, CallOptions } from './api-call.ts'
export { type FetchCaOptions, type FetchedCa, fetchCa } from './certificates/fetch-ca.ts'
export type { CertificateOptions, SessionCertificate } from './certificates/session-certificate.ts'
export {
  type Enrolled,
  type EnrolledCertificate,
  type EnrolledPassword,
  type EnrollOptions,
  enroll,
  type NewPassword,
  type NewPasswordAsk,
} from './enrollment/enroll.ts'
export { type EnrollmentMethod, type Invitation, readInvitation } from './enrollment/invitation.ts'
export * from './errors.ts'
export type { IdTokenClaims } from './id-token.ts'
export { type LegacyOptions, type LegacySession, logInLegacy } from './legacy.ts'
export type { Proof } from './login/authorization.ts'
export type { BrowserLogin, BrowserLoginOptions } from './login/browser.ts'
export type { Credential } from './login/credentials.ts'
export type { DeviceLogin, DeviceLoginOptions } from './login/device.ts'
export type { CodeAsk, Factors, TotpEnrollment } from './login/factors.ts'
export type { RedirectLogin } from './login/redirect.ts'
export type { SavedSession } from './saved-session.ts'
export type { Session, SessionOptions } from './session.ts'
export type { ClientCertificate } from './wire/https-wire.ts'

export interface ConnectOptions {
  /** `https://HOST[:PORT]`, an address of the server: its issuer must be `<url>/oidc`. */
  readonly url: string
  /** The address of the APIs, if OIDC has a listener of its own (SPEC Authentication 9). Default: `url`. */
  readonly api?: string
  /** The CAs that the server is trusted by, in PEM. Default: those of Node. */
  readonly ca?: string | undefined
  /** SPEC OIDC client. Default: `service`. */
  readonly clientId?: string | undefined
  /** For logins without a browser; the server must allow it, and it is never called. */
  readonly redirectUri?: string
  /** For each request. Default: 30 seconds. */
  readonly timeoutMilliseconds?: number | undefined
  readonly clock?: Clock
  readonly random?: Random
  readonly signal?: AbortSignal
}

export interface LoginOptions extends Wishes, Factors, SessionOptions {
  readonly signal?: AbortSignal
}

export interface RestoreOptions extends SessionOptions {
  /** The certificate of a certificate login, which is not saved. */
  readonly certificate?: ClientCertificate
}

export interface Client {
  readonly issuer: string
  /** Throws LoginRefused, CodeRefused, FactorRequired, RateLimited, ServerUnavailable, UnexpectedAnswer. */
  logIn(credential: Credential, options?: LoginOptions): Promise<Session>
  /** Opens a listener on this machine; the user opens the URL, and `finish` returns the session. */
  beginBrowserLogin(options?: BrowserLoginOptions): Promise<BrowserLogin>
  /** Whether the server lets devices without a browser log in. */
  readonly offersDeviceLogin: boolean
  /** On a machine without a browser: the user approves on another device, and `finish` returns the session (RFC 8628). */
  beginDeviceLogin(options?: DeviceLoginOptions): Promise<DeviceLogin>
  /** For a web server that logs in a browser: begins a login that comes back to `redirectUri`. */
  beginRedirectLogin(redirectUri: string, wishes?: Wishes): RedirectLogin
  /** Exchanges what came back, as the query of the redirect URI. Throws as `logIn` does. */
  finishRedirectLogin(proof: Proof, query: string, options?: SessionOptions): Promise<Session>
  /**
   * Restores a session of an earlier run. Sends no request: its first use shows whether it is valid. Throws TypeError.
   */
  restore(saved: SavedSession, options?: RestoreOptions): Session
  /** Closes the connections that are kept for the next request. Sessions can continue. */
  close(): void
}

const DEFAULT_CLIENT_ID = 'service'

/** SPEC Authentication 10: loopback is allowed by default. */
const REDIRECT_URI = 'http://127.0.0.1/callback'

/** Reads the server's discovery document. A `SavedSession` can be passed as options. */
export async function connect(options: ConnectOptions): Promise<Client> {
  const { clientId = DEFAULT_CLIENT_ID, redirectUri = REDIRECT_URI, ca } = options
  const { timeoutMilliseconds = TIMEOUT_MILLISECONDS } = options
  const { clock = systemClock, random = systemRandom } = options
  const origin = parseOrigin(options.url)
  const api = options.api === undefined ? origin : parseOrigin(options.api, 'api')
  if (/[?#\s]/.test(redirectUri) || !URL.canParse(redirectUri)) {
    throw new TypeError('redirectUri must be a URL without query and fragment')
  }
  const wires = new Set<Wire>()
  const openWire = (certificate?: ClientCertificate): Wire => {
    const wire = createWire({ ca, certificate, timeoutMilliseconds })
    wires.add(wire)
    return wire
  }

  const shared = openWire()
  const provider = await discover(shared, origin, options.signal)
  const idTokens = createIdTokens({ wire: shared, provider, clientId, clock })
  const place = {
    url: origin.origin,
    api: api.origin,
    ...(ca === undefined ? {} : { ca }),
    clientId,
  }

  const keyTools = { clock, random, nonces: new Map() }

  /** D-456: a certificate already binds the tokens, and its key may be in hardware. */
  const keyFor = (certificate: unknown, { dpop = 'when-offered' }: Wishes): ProofKey | undefined =>
    dpop === 'when-offered' && provider.bindsTokens && certificate === undefined
      ? newProofKey(keyTools)
      : undefined

  function serverOver(wire: Wire): Server {
    const tokens = createTokenEndpoint({ wire, provider, clientId, clock })
    const close = () => {
      if (wire === shared) return
      wire.close()
      wires.delete(wire)
    }
    return { place, api, wire, provider, clientId, clock, tokens, idTokens, keyTools, close }
  }

  const wireFor = (certificate: ClientCertificate | undefined) =>
    certificate === undefined ? shared : openWire(certificate)

  return {
    issuer: provider.issuer,

    async logIn(credential, options = {}) {
      const certificate = certificateOf(credential)
      const server = serverOver(wireFor(certificate))
      try {
        const deps = { ...server, redirectUri, random, key: keyFor(certificate, options) }
        return await beginSession(server, await logInForCode(deps, credential, options), options)
      } catch (error) {
        server.close()
        throw error
      }
    },

    beginBrowserLogin: (options = {}) =>
      beginBrowserLogin(
        { provider, clientId, random, key: keyFor(undefined, options) },
        options,
        (code) => beginSession(serverOver(shared), code, options),
      ),

    offersDeviceLogin: provider.deviceAuthorization !== undefined,

    beginDeviceLogin(options = {}) {
      const server = serverOver(shared)
      let key = keyFor(undefined, options)
      const poll = async (form: Readonly<Record<string, string>>, signal?: AbortSignal) => {
        const outcome = await server.tokens.poll(form, key, signal)
        const isRequired = 'status' in outcome && codeOf(outcome) === 'invalid_dpop_proof'
        if (!isRequired || key !== undefined || options.dpop === 'never') return outcome
        key = newProofKey(keyTools)
        return server.tokens.poll(form, key, signal)
      }
      return beginDeviceLogin({ ...server, tokens: { poll } }, options, (got) =>
        beginWithTokens(server, got, key, { ...options, nonce: undefined }),
      )
    },

    beginRedirectLogin(uri, wishes = {}) {
      const proof = newProof(random, uri)
      return { proof, url: authorizationUrl(provider, clientId, proof, wishes).href }
    },

    finishRedirectLogin: async (proof, query, options = {}) =>
      beginSession(serverOver(shared), codeOfRedirect(proof, query, provider), options),

    restore(value, options = {}) {
      const saved = readSavedSession(value)
      if (saved.url !== place.url || saved.api !== place.api || saved.clientId !== clientId) {
        throw new TypeError('the saved session belongs to another server')
      }
      const { dpopKey } = saved
      const key = dpopKey === undefined ? undefined : restoreProofKey(dpopKey, keyTools)
      const server = serverOver(wireFor(options.certificate))
      return createSession({ ...server, key }, { ...saved, ...place }, options).session
    },

    close() {
      for (const wire of wires) wire.close()
    },
  }
}
