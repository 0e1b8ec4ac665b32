/**
 * What a login may ask for after the first credential, and how the program provides it: SPEC Authentication 3 to 5,
 * SPEC Authentication Query; D-14, D-15, D-19. OIDC and legacy logins share it; they differ in how a code is sent.
 */
import { isText } from '../../base/json.ts'
import type { AuthQuery, ExtJwtQuery, TotpQuery } from '../../protocol/auth-query.ts'
import { CodeRefused, FactorRequired, type Refusal, UnexpectedAnswer } from '../errors.ts'
import { asObject, codeOf, jsonOf, refusalIn, refusalOf } from '../wire/answers.ts'
import type { WireAnswer } from '../wire/https-wire.ts'

export interface CodeAsk {
  /** 1 for the first; more if the previous one was wrong. */
  readonly attempt: number
  /** The refusal of the previous one. Throw it to give up. */
  readonly refused?: CodeRefused | undefined
}

export interface TotpEnrollment extends CodeAsk {
  /** `otpauth://…`, for a QR code. */
  readonly provisioningUrl: string
  /** Shown only once; the user must store them. */
  readonly recoveryCodes: readonly string[]
}

/** How to get what a login may ask for. If a login needs something that is missing here, it throws FactorRequired. */
export interface Factors {
  /**
   * Returns a code of the authenticator app, or a recovery code. Called again after a wrong one, at most twice (D-151).
   */
  readonly totp?: ((ask: CodeAsk) => string | Promise<string>) | undefined
  /**
   * Shows a new enrollment to the user; returns the first code of the app. If it throws, the enrollment is canceled.
   */
  readonly enrollTotp?: ((enrollment: TotpEnrollment) => string | Promise<string>) | undefined
  /** Returns a JWT of the given External JWT Signer. */
  readonly secondaryJwt?: ((query: ExtJwtQuery) => string | Promise<string>) | undefined
}

/** D-151. */
const MOST_CODES = 3

/** How codes are sent. Each returns the response of the server. */
export interface CodeSteps {
  submit(code: string): Promise<WireAnswer>
  startEnrollment(): Promise<WireAnswer>
  verifyEnrollment(code: string): Promise<WireAnswer>
  cancelEnrollment(): Promise<unknown>
}

/** Returns the response to the first code that was not wrong. */
export async function proveTotp(
  query: TotpQuery,
  { totp, enrollTotp }: Factors,
  steps: CodeSteps,
): Promise<WireAnswer> {
  if (query.isTotpEnrolled !== false) {
    if (totp === undefined) throw lacking('a TOTP code is needed', [query])
    return untilRight(totp, (code) => steps.submit(code))
  }
  if (enrollTotp === undefined) throw lacking('TOTP must be enrolled first', [query])
  const { provisioningUrl, recoveryCodes } = readEnrollment(await steps.startEnrollment())
  try {
    const ask = (again: CodeAsk) => enrollTotp({ ...again, provisioningUrl, recoveryCodes })
    return await untilRight(ask, (code) => steps.verifyEnrollment(code))
  } catch (error) {
    // The user did not get it; the next login starts a new enrollment anyway.
    await steps.cancelEnrollment().catch(() => undefined)
    throw error
  }
}

async function untilRight(
  ask: (ask: CodeAsk) => string | Promise<string>,
  send: (code: string) => Promise<WireAnswer>,
): Promise<WireAnswer> {
  let refused: CodeRefused | undefined
  for (let attempt = 1; ; attempt++) {
    const answer = await send(await ask({ attempt, refused }))
    if (answer.status !== 400 || codeOf(answer) !== 'MFA_INVALID_TOKEN') return answer
    const message = 'the code is wrong (MFA_INVALID_TOKEN)'
    refused = new CodeRefused('MFA_INVALID_TOKEN', message, refusalIn(answer))
    if (attempt === MOST_CODES) throw refused
  }
}

/** SPEC TOTP enrollment record; legacy sessions wrap it in `data` (API 3.1). */
function readEnrollment(answer: WireAnswer): Omit<TotpEnrollment, keyof CodeAsk> {
  if (answer.status !== 200 && answer.status !== 201) {
    throw refusalOf(answer, 'the enrollment of TOTP')
  }
  const body = jsonOf(answer)
  const { provisioningUrl, recoveryCodes } = asObject(body?.['data']) ?? body ?? {}
  if (!isText(provisioningUrl) || !Array.isArray(recoveryCodes) || !recoveryCodes.every(isText)) {
    throw new UnexpectedAnswer('the enrollment of TOTP cannot be read')
  }
  return { provisioningUrl, recoveryCodes }
}

/**
 * Sends the first credential. D-14: the server asks for a required JWT with a refusal; then the same credential is sent
 * again with it.
 */
export async function submitPrimary(
  submit: (secondaryJwt: string | undefined) => Promise<WireAnswer>,
  factors: Factors,
): Promise<{ readonly answer: WireAnswer; readonly secondaryJwt: string | undefined }> {
  const answer = await submit(undefined)
  const query = answer.status === 401 ? findExtJwt(queriesOf(answer)) : undefined
  if (query === undefined) return { answer, secondaryJwt: undefined }
  const secondaryJwt = await obtainJwt(query, factors, refusalIn(answer))
  return { answer: await submit(secondaryJwt), secondaryJwt }
}

/** Returns the requested JWT, if it is safe in a header. */
export async function obtainJwt(
  query: ExtJwtQuery,
  { secondaryJwt }: Factors,
  refusal?: Refusal,
): Promise<string> {
  if (secondaryJwt === undefined) throw lacking('an external JWT is needed', [query], refusal)
  return checkedJwt(await secondaryJwt(query))
}

/** What may follow `Bearer`. The error does not quote the text: it may be a secret in the wrong place. */
export function checkedJwt(jwt: string): string {
  if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(jwt)) throw new TypeError('this is not a JWT')
  return jwt
}

export function lacking(
  message: string,
  queries: readonly AuthQuery[],
  refusal: Refusal = { status: 200 },
): FactorRequired {
  return new FactorRequired(message, { ...refusal, queries })
}

/**
 * Returns the `authQueries` of a response, or of its `data`; unknown types count too. D-318: in an OIDC login, a server for
 * clients of OpenZiti says `TOTP` instead of `MFA`.
 */
export function queriesOf(answer: WireAnswer): readonly AuthQuery[] {
  const body = jsonOf(answer)
  const queries = body?.['authQueries'] ?? asObject(body?.['data'])?.['authQueries'] ?? []
  if (!Array.isArray(queries) || !queries.every((query) => isText(asObject(query)?.['typeId']))) {
    throw new UnexpectedAnswer('the authentication queries cannot be read')
  }
  return queries.map((query) => (query.typeId === 'TOTP' ? { ...query, typeId: 'MFA' } : query))
}

export const findTotp = (queries: readonly AuthQuery[]) =>
  queries.find((query) => query.typeId === 'MFA')

export const findExtJwt = (queries: readonly AuthQuery[]) =>
  queries.find((query) => query.typeId === 'EXT-JWT')
