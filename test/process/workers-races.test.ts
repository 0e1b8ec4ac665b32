/**
 * What works once works once, however many workers are asked at the same moment; and limits on guessing are those of
 * the whole instance. R027, R038, R042, D-7, D-22, D-27, D-290.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../src/base/time/clock.ts'
import { moveToPostgres } from '../support/homes/postgres-home.ts'
import { eachWorker, startWorkers, type WorkerView } from '../support/kills/workers.ts'
import { enrolledPerson, partialLogin } from '../support/login/authenticator-app.ts'
import { IDENTITY } from '../support/login/challenges.ts'
import { authenticate } from '../support/login/legacy.ts'
import {
  answerOf,
  bearer,
  beginLogin,
  exchange,
  REDIRECT_URI,
  submitPassword,
} from '../support/login/login.ts'
import { logInOffline, refresh } from '../support/login/refresh.ts'
import { administrate } from '../support/management.ts'
import { changeConfig } from '../support/process/child-home.ts'
import { preparedHome } from '../support/process/prepared-home.ts'

const ROUNDS = 5

async function workersOn(
  t: TestContext,
  prepare: (home: string) => Promise<void>,
): Promise<readonly [WorkerView, WorkerView]> {
  const home = await preparedHome(t)
  await prepare(home)
  const [one, two] = await eachWorker(t, await startWorkers(t, 2, { home }))
  assert.ok(one && two)
  return [one, two]
}

const PLACES: readonly (readonly [string, (home: string) => Promise<void>])[] = [
  ['SQLite', async () => {}],
  ['PostgreSQL', async (home) => void (await moveToPostgres(home))],
]

for (const [name, prepare] of PLACES) {
  test(`single-use things are spent once, whichever worker is asked, on ${name}`, async (t) => {
    const [one, two] = await workersOn(t, prepare)

    await t.test('of two exchanges of one code at the same time, one succeeds', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { authRequestId, verifier } = await beginLogin(one)
        const code = answerOf(await submitPassword(two, authRequestId)).get('code') ?? ''
        const form = { code, code_verifier: verifier, redirect_uri: REDIRECT_URI }
        const replies = await Promise.all([exchange(one, form), exchange(two, form)])
        assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 400])
        const loser = replies.find(({ status }) => status === 400)
        assert.equal(loser?.json().error, 'invalid_grant')
      }
    })

    await t.test(
      'of two refreshes with one token at the same time, one succeeds, and a theft ends the session everywhere',
      async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const first = await logInOffline(one)
          const replies = await Promise.all([
            refresh(one, first.refresh_token),
            refresh(two, first.refresh_token),
          ])
          assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 400])
          const [winner] = replies.filter(({ status }) => status === 200)
          // Its successor is used, so that the first token, which comes again, was stolen.
          assert.equal((await refresh(two, winner?.json().refresh_token)).status, 200)
          const reuse = await refresh(two, first.refresh_token)
          assert.equal(reuse.json().error, 'invalid_grant', reuse.text)
          // The answer to the reuse came after every worker knew of the end.
          for (const { call } of [one, two]) {
            assert.equal((await call(IDENTITY, bearer(first.access_token))).status, 401)
          }
        }
      },
    )

    await t.test('a one-time code works once, whichever worker is asked', async () => {
      const service = { ...one, clock: systemClock } as never
      const person = await enrolledPerson(service, await administrate(service))
      const code = person.app.code(1)
      const logins = await Promise.all(
        [one, two].map(async (worker) => {
          const { authRequestId } = await partialLogin(worker as never, person)
          return { worker, authRequestId }
        }),
      )
      const replies = await Promise.all(
        logins.map(({ worker, authRequestId }) =>
          worker.call('/oidc/login/totp', { json: { authRequestId, code } }),
        ),
      )
      assert.deepEqual(replies.map(({ status }) => status).sort(), [302, 400])
    })
  })
}

test('wrong passwords are counted for all workers together', async (t) => {
  // Attack: a guesser opens one connection to each worker, to get as many guesses as there are workers.
  const home = await preparedHome(t)
  await changeConfig(home, (config) => {
    config.edge = { ...config.edge, limits: { failuresPerAddress: 3 } }
  })
  const [one, two] = await eachWorker(t, await startWorkers(t, 2, { home }))
  assert.ok(one && two)
  const guess = (worker: WorkerView) =>
    authenticate(worker as never, { username: 'nobody', password: 'a wrong guess' })
  assert.equal((await guess(one)).status, 401)
  assert.equal((await guess(two)).status, 401)
  assert.equal((await guess(one)).status, 401)
  for (const worker of [two, one]) {
    const reply = await guess(worker)
    assert.equal(reply.status, 429)
    assert.equal(reply.json().error.code, 'RATE_LIMITED')
    assert.ok(Number(reply.headers['retry-after']) > 0)
  }
})
