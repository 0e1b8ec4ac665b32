/**
 * The OIDC login of a program: authorization request, first credential, further factors, code. SPEC States and
 * transitions / Auth request. Every response must belong to this login and come from this server.
 */
import type { Random } from '../../base/secrets/random.ts'
import { PROVIDER_PREFIX } from '../../protocol/oidc.ts'
import { UnexpectedAnswer } from '../errors.ts'
import type { ProofKey } from '../proof-key.ts'
import { refusalOf } from '../wire/answers.ts'
import { jsonRequest, type Wire, type WireAnswer } from '../wire/https-wire.ts'
import type { LoginPath, Provider } from '../wire/provider.ts'
import {
  authorizationUrl,
  type ClientAnswer,
  newProof,
  type Proof,
  readClientAnswer,
  type Wishes,
} from './authorization.ts'
import {
  authorizationFields,
  bearersOf,
  bodyOf,
  type Credential,
  LOGIN_PATHS,
} from './credentials.ts'
import { type Factors, findTotp, lacking, proveTotp, queriesOf, submitPrimary } from './factors.ts'

export interface Code {
  readonly code: string
  readonly proof: Proof
  /** The secondary JWT that was accepted: API calls need it again (SPEC Authentication 5). */
  readonly secondaryJwt: string | undefined
}

const REDIRECTS = [302, 303]

export async function logInForCode(
  deps: {
    readonly wire: Pick<Wire, 'send'>
    readonly provider: Provider
    readonly clientId: string
    readonly redirectUri: string
    readonly random: Random
    readonly key: ProofKey | undefined
  },
  credential: Credential,
  options: Wishes & Factors & { readonly signal?: AbortSignal | undefined },
): Promise<Code> {
  const { wire, provider } = deps
  const { signal } = options
  const proof = newProof(deps.random, deps.redirectUri, deps.key)
  const authRequestId = await begin()
  const { answer, secondaryJwt } = await submitPrimary(
    (jwt) =>
      post(
        LOGIN_PATHS[credential.method],
        { authRequestId, ...bodyOf(credential) },
        bearersOf(credential, jwt),
      ),
    options,
  )
  return { code: await codeOf(answer), proof, secondaryJwt }

  async function begin(): Promise<string> {
    const wishes = { ...options, method: credential.method }
    const url = authorizationUrl(provider, deps.clientId, proof, wishes)
    const headers = { accept: 'application/json' }
    const answer = await wire.send({ method: 'GET', url, headers, signal })
    if (!REDIRECTS.includes(answer.status)) throw refusalOf(answer, 'the login')
    const location = answer.headers.get('location') ?? ''
    if (location.startsWith(`${proof.redirectUri}?`)) throw errorOf(answerIn(location))
    const target = URL.parse(location, provider.authorization)
    const id = target?.searchParams.get('authRequestID')
    const isLogin =
      target?.origin === provider.authorization.origin &&
      target.pathname.startsWith(`${PROVIDER_PREFIX}/login/`)
    if (!isLogin || !id) throw new UnexpectedAnswer('the login is redirected to somewhere else')
    return id
  }

  function post(path: LoginPath, fields: object, tokens: readonly string[] = [], method = 'POST') {
    const request = jsonRequest(provider.loginUrl(path), fields, authorizationFields(tokens))
    return wire.send({ ...request, method, signal })
  }

  /** Handles one query after the other until there is a code, with a limit for a server that never has enough. */
  async function codeOf(first: WireAnswer): Promise<string> {
    let answer = first
    for (let steps = 0; steps < 3; steps++) {
      if (REDIRECTS.includes(answer.status)) return codeIn(await lastRedirect(answer))
      if (answer.status !== 200) throw refusalOf(answer, 'the login')
      const queries = queriesOf(answer)
      const query = findTotp(queries)
      if (query === undefined) throw lacking('the login asks for something unknown', queries)
      answer = await proveTotp(query, options, {
        submit: (code) => post('totp', { id: authRequestId, code }),
        startEnrollment: () => post('totp/enroll', { authRequestId }),
        verifyEnrollment: (code) => post('totp/enroll/verify', { authRequestId, code }),
        cancelEnrollment: () => post('totp/enroll', { authRequestId }, [], 'DELETE'),
      })
    }
    throw new UnexpectedAnswer('the login does not come to an end')
  }

  /** D-316: a server for clients of OpenZiti redirects to an address of its own first. */
  async function lastRedirect(answer: WireAnswer): Promise<WireAnswer> {
    const { origin, pathname } = provider.authorization
    const url = URL.parse(answer.headers.get('location') ?? '')
    if (url?.origin !== origin || url.pathname !== `${pathname}/callback`) return answer
    const headers = { accept: 'application/json' }
    const last = await wire.send({ method: 'GET', url, headers, signal })
    if (!REDIRECTS.includes(last.status)) throw refusalOf(last, 'the login')
    return last
  }

  function codeIn({ headers }: WireAnswer): string {
    const location = headers.get('location') ?? ''
    if (!location.startsWith(`${proof.redirectUri}?`)) {
      throw new UnexpectedAnswer('the login is redirected to somewhere else')
    }
    const read = answerIn(location)
    if (read.outcome === 'code') return read.code
    throw errorOf(read)
  }

  function answerIn(location: string): ClientAnswer {
    return readClientAnswer(location.slice(proof.redirectUri.length + 1), proof, provider)
  }
}

const errorOf = (read: ClientAnswer): Error =>
  read.outcome === 'failed'
    ? read.error
    : new UnexpectedAnswer('the answer is one to another login')
