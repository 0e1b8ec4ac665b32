/**
 * kill -9 in the middle of logins, then a start: what was answered holds, and what works once works once. R114.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  killOnPostgres,
  killOnSqlite,
  type Mortal,
  workUntilKilled,
} from '../support/kills/rounds.ts'
import {
  bearer,
  beginLogin,
  exchange,
  logIn,
  REDIRECT_URI,
  submitPassword,
} from '../support/login/login.ts'
import type { ChildService } from '../support/process/child-service.ts'

const WORKERS = 6
/** These many of them never exchange their codes: the service's answer must hold without a second call. */
const PATIENT_WORKERS = 2
/** A code lives for 60 seconds (D-7); one that is older than this may have expired before it is tried. */
const FRESH_MILLISECONDS = 30_000
/** The kill comes when this many logins of the round have their tokens; the workers are then anywhere. */
const LOGINS = 8

/** How far one login came, as its client knows it: by the answers that it got. */
interface Login {
  authRequestId: string
  verifier: string
  code?: string
  codeAt?: number
  isExchangeSent?: boolean
  accessToken?: string
}

const ROUNDS = {
  kills: { sqlite: 1, postgres: 1 },
  work: logInUntilKilled,
  check: checkAll,
}

test('what was answered before a kill -9 holds after the next start, on SQLite', (t) =>
  killOnSqlite(t, ROUNDS))

test('what was answered before a kill -9 holds after the next start, on PostgreSQL', (t) =>
  killOnPostgres(t, ROUNDS))

/** Workers log in one after the other, all at the same time, until the service is killed under them. */
async function logInUntilKilled(service: ChildService): Promise<readonly Login[]> {
  const logins: Login[] = []
  let count = 0
  await workUntilKilled(service, WORKERS, async (mortal, worker, kill) => {
    if (worker < PATIENT_WORKERS) return logInOnce(mortal, logins, 'code')
    await logInOnce(mortal, logins, 'token')
    count += 1
    if (count === LOGINS) kill()
  })
  return logins
}

async function logInOnce(service: Mortal, logins: Login[], until: 'code' | 'token'): Promise<void> {
  const { authRequestId, verifier } = await beginLogin(service)
  const login: Login = { authRequestId, verifier }
  logins.push(login)
  const answer = await submitPassword(service, authRequestId)
  assert.equal(answer.status, 302, answer.text)
  login.code = new URL(answer.headers.location ?? '').searchParams.get('code') ?? ''
  login.codeAt = performance.now()
  if (until === 'code') return
  login.isExchangeSent = true
  const tokens = await exchangeCode(service, login)
  assert.equal(tokens.status, 200, tokens.text)
  login.accessToken = tokens.json().access_token
}

function exchangeCode(service: Mortal, { code, verifier }: Login) {
  return exchange(service, { code, code_verifier: verifier, redirect_uri: REDIRECT_URI })
}

async function checkAll(service: ChildService, logins: readonly Login[]): Promise<void> {
  const { call } = service
  // Before anything else, while they are fresh: a code that left the service exists.
  for (const login of logins) {
    if (login.code === undefined || login.isExchangeSent) continue
    login.isExchangeSent = true
    const reply = await exchangeCode(service, login)
    const age = performance.now() - (login.codeAt ?? 0)
    if (reply.status === 200) login.accessToken = reply.json().access_token
    else if (age < FRESH_MILLISECONDS) {
      const log = JSON.stringify(service.logLines().slice(-4))
      assert.fail(`a code was lost, ${age} ms old: ${reply.text} ${log}`)
    }
  }
  // Then all tokens: a code that comes again would end its session (D-7).
  for (const { accessToken } of logins) {
    if (accessToken === undefined) continue
    const reply = await call('/edge/client/v1/current-api-session', bearer(accessToken))
    assert.equal(reply.status, 200, reply.text)
    const identity = await call('/edge/client/v1/current-identity', bearer(accessToken))
    assert.equal(identity.json().data.name, 'admin')
  }
  for (const login of logins) {
    if (login.code === undefined) {
      // No answer to the password: either nothing happened, or a code exists that nobody knows.
      const again = await submitPassword(service, login.authRequestId)
      if (again.status === 302) continue
      assert.equal(again.status, 400, again.text)
      assert.equal(again.json().error.code, 'INVALID_AUTH_REQUEST')
      continue
    }
    if (login.accessToken === undefined) {
      // A code that was on its way to be spent may be spent.
      const retried = await exchangeCode(service, login)
      if (retried.status !== 200) assert.equal(retried.json().error, 'invalid_grant')
    }
    const repeated = await exchangeCode(service, login)
    assert.equal(repeated.status, 400, 'a code works once')
    assert.equal(repeated.json().error, 'invalid_grant')
  }
  await logIn(service)
}
