/**
 * kill -9 in the middle of logins, then a start: what was answered holds, and what works once works once. R114.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onceReady } from '../support/http-client.ts'
import {
  killOnPostgres,
  killOnSqlite,
  type Mortal,
  patiently,
  refusing,
  workUntilKilled,
} from '../support/kills/rounds.ts'
import {
  answerOf,
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
/** A code lives for so long (D-7), by the time of day, from a moment after the password was sent. */
const CODE_LIFE_MILLISECONDS = 60_000
/** The kill comes when this many logins of the round have their tokens; the workers are then anywhere. */
const LOGINS = 8

/** How far one login came, as its client knows it: by the answers that it got. */
interface Login {
  authRequestId: string
  verifier: string
  /** By the time of day, as the service counts. The answer may come long after the code was issued. */
  passwordSentAt?: number
  code?: string
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
  login.passwordSentAt = Date.now()
  const code = answerOf(await submitPassword(service, authRequestId)).get('code')
  assert.ok(code, 'the answer to the password has a code')
  login.code = code
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
    let isDoubtful = false
    const reply = await onceReady(async () => {
      const one = await exchangeCode(service, login)
      // Of a busy instance (D-250): the code may be spent nevertheless.
      isDoubtful ||= one.status === 503
      return one
    })
    const age = Date.now() - (login.passwordSentAt ?? 0)
    if (reply.status === 200) login.accessToken = reply.json().access_token
    else if (!isDoubtful && age < CODE_LIFE_MILLISECONDS) {
      const log = JSON.stringify(service.logLines().slice(-4))
      assert.fail(`a code was lost, at most ${age} ms old: ${reply.text} ${log}`)
    }
  }
  // Then all tokens: a code that comes again would end its session (D-7).
  for (const { accessToken } of logins) {
    if (accessToken === undefined) continue
    const get = (path: string) => onceReady(() => call(path, bearer(accessToken)))
    const reply = await get('/edge/client/v1/current-api-session')
    assert.equal(reply.status, 200, reply.text)
    const identity = await get('/edge/client/v1/current-identity')
    assert.equal(identity.json().data.name, 'admin')
  }
  for (const login of logins) {
    if (login.code === undefined) {
      // No answer to the password: either nothing happened, or a code exists that nobody knows.
      const again = await onceReady(() => submitPassword(service, login.authRequestId))
      if (again.status === 302) continue
      assert.equal(again.status, 400, again.text)
      assert.equal(again.json().error.code, 'INVALID_AUTH_REQUEST')
      continue
    }
    if (login.accessToken === undefined) {
      // A code that was on its way to be spent may be spent.
      const retried = await onceReady(() => exchangeCode(service, login))
      if (retried.status !== 200) assert.equal(retried.json().error, 'invalid_grant')
    }
    const repeated = await onceReady(() => exchangeCode(service, login))
    assert.equal(repeated.status, 400, 'a code works once')
    assert.equal(repeated.json().error, 'invalid_grant')
  }
  const busy = refusing(service)
  await patiently(() => logIn(busy))
}
