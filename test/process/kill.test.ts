/**
 * kill -9 in the middle of logins, then a start: what was answered holds, and what works once works once. R114.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { rounds } from '../support/chance/rounds.ts'
import { moveToPostgres } from '../support/homes/postgres-home.ts'
import {
  bearer,
  beginLogin,
  exchange,
  logIn,
  REDIRECT_URI,
  submitPassword,
} from '../support/login/login.ts'
import { fixPort, useWorkers } from '../support/process/child-home.ts'
import { type ChildService, startChild, waitFor } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { startPostgres } from '../support/stores/postgres.ts'

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

test('what was answered before a kill -9 holds after the next start, on SQLite', async (t) => {
  await killRounds(t, rounds(1), async () => {})
})

test('what was answered before a kill -9 holds after the next start, on PostgreSQL', async (t) => {
  const postgres = await startPostgres()
  t.after(() => postgres.stop())
  await killRounds(t, rounds(1), async (home) => void (await moveToPostgres(home)))
})

async function killRounds(
  t: TestContext,
  count: number,
  prepare: (home: string) => Promise<void>,
): Promise<void> {
  const home = await preparedHome(t)
  await prepare(home)
  await fixPort(home)

  await useWorkers(home, 2)
  let service = await startChild(t, { home })
  for (let round = 1; round <= count; round++) {
    const logins = await loginsUntilKilled(service)
    // A home may go from one process to several and back.
    await useWorkers(home, round % 2 === 0 ? 2 : 1)
    service = await startChild(t, { home })
    await checkAll(service, logins)
  }
  assert.equal((await service.stop()).code, 0)
}

/** Workers log in one after the other, all at the same time, until the service is killed under them. */
async function loginsUntilKilled(service: ChildService): Promise<readonly Login[]> {
  const logins: Login[] = []
  let isKilled = false
  const workers = Array.from({ length: WORKERS }, async (_, i) => {
    while (!isKilled) {
      try {
        await logInOnce(service, logins, i < PATIENT_WORKERS ? 'code' : 'token')
      } catch (error) {
        // Any other failure than that of the connection is one of the service.
        if (!isKilled || error instanceof assert.AssertionError) throw error
        if (!(error as NodeJS.ErrnoException).code?.startsWith('E')) throw error
      }
    }
  })
  await waitFor(
    () => logins.filter(({ accessToken }) => accessToken !== undefined).length >= LOGINS,
    () => `${LOGINS} logins`,
    service,
  )
  isKilled = true
  service.process.kill('SIGKILL')
  await Promise.all(workers)
  assert.equal((await service.finished).signal, 'SIGKILL')
  return logins
}

async function logInOnce(
  service: ChildService,
  logins: Login[],
  until: 'code' | 'token',
): Promise<void> {
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

function exchangeCode(service: ChildService, { code, verifier }: Login) {
  return exchange(service, { code, code_verifier: verifier, redirect_uri: REDIRECT_URI })
}

async function checkAll(service: ChildService, logins: readonly Login[]): Promise<void> {
  const { call } = service
  // First all tokens: a code that comes again would end its session (D-7).
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
      const isFresh = performance.now() - (login.codeAt ?? 0) < FRESH_MILLISECONDS
      const retried = await exchangeCode(service, login)
      // A code that left the service exists. One that was on its way to be spent may be spent.
      if (!login.isExchangeSent && isFresh) assert.equal(retried.status, 200, retried.text)
      if (retried.status !== 200) assert.equal(retried.json().error, 'invalid_grant')
    }
    const repeated = await exchangeCode(service, login)
    assert.equal(repeated.status, 400, 'a code works once')
    assert.equal(repeated.json().error, 'invalid_grant')
  }
  await logIn(service)
}
