/** Brings a bad day about, on the running service: bad-days.ts says what each of them is. */
import { CATALOGUE, Failure } from '../errors/catalogue.ts'
import { failureHeaders } from '../http/faces/challenge-header.ts'
import { apiErrorBody, oauthErrorBody } from '../http/faces/error-bodies.ts'
import {
  bearerExpired,
  bearerInvalid,
  type Challenge,
  missingToken,
  primaryExtJwt,
  secondaryExtJwt,
  ztSessionInvalid,
} from '../protocol/challenge.ts'
import type { ScenarioName } from './bad-days.ts'
import type { GivenAnswer, Interceptor, SeenRequest } from './interceptor.ts'

/** What a scenario can do to the server. */
export interface Stage {
  readonly interceptor: Pick<Interceptor, 'once'>
  readonly clock: { move(bySeconds: number): void }
  readonly signer: { readonly id: string; readonly issuer: string }
  rotateKeys(): Promise<void>
  demandTotp(): Promise<void>
  showExpiredCa(): Promise<void>
  restoreBackup(): Promise<void>
}

const BRAND = 'service'
const OFF_SECONDS = 90
const SLOW_MILLISECONDS = 3_000

const isCall = ({ path }: SeenRequest) => path.startsWith('/edge/')
const isAny = () => true

export const BEGINNINGS: Readonly<Record<ScenarioName, (stage: Stage) => void | Promise<void>>> = {
  'lost-refresh': ({ interceptor }) =>
    interceptor.once(({ grantType }) => grantType === 'refresh_token', { what: 'lost' }),
  'clock-ahead': ({ clock }) => clock.move(OFF_SECONDS),
  'clock-behind': ({ clock }) => clock.move(-OFF_SECONDS),
  'key-rotation': (stage) => stage.rotateKeys(),
  'challenge-missing': challenged(() => missingToken(BRAND)),
  'challenge-expired': challenged(() => [bearerExpired(BRAND)]),
  'challenge-invalid': challenged(() => [bearerInvalid(BRAND)]),
  'challenge-zt-session': challenged(() => [ztSessionInvalid()]),
  'challenge-primary-jwt': jwtChallenged(primaryExtJwt, 'missing'),
  'challenge-primary-jwt-expired': jwtChallenged(primaryExtJwt, 'expired'),
  'challenge-primary-jwt-invalid': jwtChallenged(primaryExtJwt, 'invalid'),
  'challenge-secondary-jwt': jwtChallenged(secondaryExtJwt, 'missing'),
  'challenge-secondary-jwt-expired': jwtChallenged(secondaryExtJwt, 'expired'),
  'challenge-secondary-jwt-invalid': jwtChallenged(secondaryExtJwt, 'invalid'),
  'second-factor': (stage) => stage.demandTotp(),
  'rate-limited': refused('RATE_LIMITED'),
  unavailable: refused('NOT_READY'),
  slow: ({ interceptor }) =>
    interceptor.once(isAny, { what: 'delayed', milliseconds: SLOW_MILLISECONDS }),
  cut: ({ interceptor }) => interceptor.once(isCall, { what: 'cut' }),
  'expired-ca': (stage) => stage.showExpiredCa(),
  'restored-backup': (stage) => stage.restoreBackup(),
}

function challenged(of: (stage: Stage) => readonly Challenge[]) {
  return (stage: Stage) => {
    const answer = answerOf(new Failure('UNAUTHORIZED', { challenges: of(stage) }), 'api')
    stage.interceptor.once(isCall, { what: 'answered', answer })
  }
}

function jwtChallenged(
  challenge: typeof primaryExtJwt | typeof secondaryExtJwt,
  word: 'missing' | 'expired' | 'invalid',
) {
  return challenged(({ signer }) => [challenge(BRAND, word, signer)])
}

/** The next request, whatever it is; its face decides about the body. */
function refused(code: 'RATE_LIMITED' | 'NOT_READY') {
  return ({ interceptor }: Stage) => {
    const failure = new Failure(code, { retryAfterSeconds: 1 })
    let isTaken = false
    const first = (isMeant: (request: SeenRequest) => boolean) => (request: SeenRequest) => {
      if (isTaken || !isMeant(request)) return false
      isTaken = true
      return true
    }
    const isOauth = ({ path }: SeenRequest) =>
      path.startsWith('/oidc/') && !path.startsWith('/oidc/login/')
    interceptor.once(first(isOauth), { what: 'answered', answer: answerOf(failure, 'oauth') })
    interceptor.once(
      first((request) => !isOauth(request)),
      {
        what: 'answered',
        answer: answerOf(failure, 'api'),
      },
    )
  }
}

/** As the service itself would write it. */
function answerOf(failure: Failure, face: 'api' | 'oauth'): GivenAnswer {
  const requestId = 'of-the-fake-server'
  const body = face === 'oauth' ? oauthErrorBody(failure) : apiErrorBody(failure, requestId)
  const fields = Object.entries(failureHeaders(failure, BRAND)).map(
    ([name, value]) => [name, String(value)] as const,
  )
  return {
    status: CATALOGUE[failure.code].status,
    headers: {
      ...Object.fromEntries(fields),
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-request-id': requestId,
    },
    body: JSON.stringify(body),
  }
}
