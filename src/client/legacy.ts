/**
 * Logins without OIDC: `zt-session`. SPEC Legacy authentication; D-36, D-51, D-52. A session lasts as long as it is
 * used; there is nothing to refresh. If a policy later requires more, the same factors are asked for again.
 */
import { isText } from '../base/json.ts'
import { ZT_SESSION_HEADER } from '../protocol/headers.ts'
import { type Call, responseOf, sendCall } from './api-call.ts'
import {
  type CertificateOptions,
  requestCertificate,
  type SessionCertificate,
} from './certificates/session-certificate.ts'
import { SessionEnded, UnexpectedAnswer } from './errors.ts'
import {
  authorizationFields,
  bearersOf,
  bodyOf,
  type Credential,
  certificateOf,
} from './login/credentials.ts'
import {
  type Factors,
  findExtJwt,
  findTotp,
  lacking,
  obtainJwt,
  proveTotp,
  queriesOf,
  submitPrimary,
} from './login/factors.ts'
import { asObject, challengesOf, jsonOf, refusalIn, refusalOf } from './wire/answers.ts'
import {
  createWire,
  jsonRequest,
  TIMEOUT_MILLISECONDS,
  type WireAnswer,
} from './wire/https-wire.ts'
import { parseOrigin } from './wire/provider.ts'

export interface LegacyOptions extends Factors {
  /** `https://HOST[:PORT]` of the API. */
  readonly url: string
  readonly ca?: string
  /** Default: the client API. */
  readonly api?: 'client' | 'management'
  readonly configTypes?: readonly string[]
  readonly timeoutMilliseconds?: number | undefined
  readonly signal?: AbortSignal
}

export interface LegacySession {
  readonly id: string
  readonly identityId: string
  /** For the header `zt-session`. */
  token(): string
  readonly call: Call
  certificate(options?: CertificateOptions): Promise<SessionCertificate>
  logout(): Promise<void>
}

/** Throws LoginRefused, CodeRefused, FactorRequired, RateLimited, ServerUnavailable, UnexpectedAnswer. */
export async function logInLegacy(
  credential: Credential,
  options: LegacyOptions,
): Promise<LegacySession> {
  const { ca, configTypes = [], signal, timeoutMilliseconds = TIMEOUT_MILLISECONDS } = options
  const origin = parseOrigin(options.url)
  const prefix = `/edge/${options.api ?? 'client'}/v1`
  const wire = createWire({ ca, certificate: certificateOf(credential), timeoutMilliseconds })
  try {
    return await open()
  } catch (error) {
    wire.close()
    throw error
  }

  async function open(): Promise<LegacySession> {
    const { answer, secondaryJwt } = await submitPrimary(authenticate, options)
    if (answer.status !== 200) throw refusalOf(answer, 'the login')
    const { id, identityId, token } = asObject(jsonOf(answer)?.['data']) ?? {}
    if (!isText(id) || !isText(identityId) || !isText(token) || !/^[\w.~+/=-]+$/.test(token)) {
      throw new UnexpectedAnswer('the session cannot be read')
    }
    const session = sessionOf({ id, identityId, token, secondaryJwt })
    await session.prove(answer, signal)
    return session.public
  }

  function authenticate(jwt: string | undefined): Promise<WireAnswer> {
    const url = new URL(`${prefix}/authenticate?method=${credential.method}`, origin)
    const body = { ...bodyOf(credential), configTypes }
    const fields = authorizationFields(bearersOf(credential, jwt))
    return wire.send({ ...jsonRequest(url, body, fields), signal })
  }

  function sessionOf(begun: {
    readonly id: string
    readonly identityId: string
    readonly token: string
    readonly secondaryJwt: string | undefined
  }) {
    const { id, identityId, token } = begun
    let { secondaryJwt } = begun
    let ended: SessionEnded | undefined
    let proving: Promise<void> | undefined

    const send: (...call: Parameters<Call>) => Promise<WireAnswer> = (path, given = {}) =>
      sendCall(wire, origin, path, given, {
        [ZT_SESSION_HEADER]: token,
        // D-36: together with a zt-session, every bearer is an external JWT.
        ...authorizationFields(secondaryJwt === undefined ? [] : [secondaryJwt]),
      })

    /** Provides what the queries of a response ask for. */
    async function prove(answer: WireAnswer, signal?: AbortSignal): Promise<void> {
      const queries = queriesOf(answer)
      if (queries.length === 0) return
      const jwtQuery = findExtJwt(queries)
      if (jwtQuery !== undefined) secondaryJwt = await obtainJwt(jwtQuery, options)
      const query = findTotp(queries)
      if (query === undefined && jwtQuery === undefined) {
        throw lacking('the login asks for something unknown', queries)
      }
      if (query === undefined) return
      const post = (path: string, body: { readonly json?: object } = {}) =>
        send(`${prefix}${path}`, { method: 'POST', ...body, signal })
      const proven = await proveTotp(query, options, {
        submit: (code) => post('/authenticate/mfa', { json: { code } }),
        startEnrollment: () => post('/current-identity/mfa'),
        verifyEnrollment: (code) => post('/current-identity/mfa/verify', { json: { code } }),
        cancelEnrollment: () => send(`${prefix}/current-identity/mfa`, { method: 'DELETE' }),
      })
      if (proven.status !== 200) throw refusalOf(proven, 'the TOTP code')
    }

    const call: Call = async (path, given = {}) => {
      for (let hasProven = false; ; hasProven = true) {
        if (ended !== undefined) throw ended
        const answer = await send(path, given)
        if (answer.status !== 401) return responseOf(answer)
        if (queriesOf(answer).length > 0) {
          if (hasProven) throw refusalOf(answer, 'the call')
          proving ??= prove(answer).finally(() => {
            proving = undefined
          })
          await proving
          continue
        }
        if (!isOver(answer)) return responseOf(answer)
        ended = new SessionEnded(
          'invalid',
          'the session has ended; log in again',
          refusalIn(answer),
        )
      }
    }

    const session: LegacySession = {
      id,
      identityId,
      token: () => token,
      call,
      certificate: (given) => requestCertificate(call, identityId, given),
      async logout() {
        const answer = await send(`${prefix}/current-api-session`, { method: 'DELETE' })
        // It has already ended, which is what was requested.
        if (answer.status !== 200 && !isOver(answer)) throw refusalOf(answer, 'the logout')
        ended = new SessionEnded('LOGGED_OUT', 'the session was logged out', { status: 0 })
        wire.close()
      },
    }
    return { public: session, prove }
  }
}

/** D-36: the token is unknown, or its session has ended. */
function isOver(answer: WireAnswer): boolean {
  return challengesOf(answer).some(
    ({ scheme, parameters }) =>
      scheme.toLowerCase() === ZT_SESSION_HEADER && parameters.get('error') === 'invalid',
  )
}
