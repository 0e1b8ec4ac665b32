/**
 * Two instances on one PostgreSQL database: what one began the other goes on with, and what one ends is over on the
 * other. D-34, D-48.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { Client } from 'pg'
import { seconds } from '../../../src/base/time/duration.ts'
import { TestClock } from '../../support/clocks/clock.ts'
import { UptimeClock } from '../../support/clocks/uptime-clock.ts'
import { eventually } from '../../support/eventually.ts'
import type { Reply } from '../../support/http-client.ts'
import { IDENTITY, INVALID } from '../../support/login/challenges.ts'
import {
  approveDevice,
  askForDevice,
  assertPoll,
  openQuestion,
  poll,
  signInForDevice,
  startDevice,
} from '../../support/login/device.ts'
import { authenticate } from '../../support/login/legacy.ts'
import {
  answerOf,
  authorizationParameters,
  authorize,
  bearer,
  beginLogin,
  exchange,
  logIn,
  obtainCode,
  pkce,
  REDIRECT_URI,
  submitPassword,
} from '../../support/login/login.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'
import { sql } from '../../support/stores/sql.ts'

async function twoInstances(t: TestContext, db?: string): Promise<[Service, Service]> {
  const shared = await installation(db ?? (await migratedDatabase()))
  const clock = new TestClock()
  return Promise.all([shared.start(t, { clock }), shared.start(t, { clock })])
}

const good = ({ code, verifier }: { code: string; verifier: string }) => ({
  code,
  code_verifier: verifier,
  redirect_uri: REDIRECT_URI,
})

test('D-48: two instances that start at the same moment on an empty database', async (t) => {
  const [a, b] = await twoInstances(t, await (await startPostgres()).freshDatabase())

  await t.test('share one administrator, one line of signing keys and one CA', async () => {
    const count = async (table: string) =>
      Number((await sql(a, `select count(*) as n from ${table}`))[0]?.['n'])
    assert.equal(await count('identities'), 1)
    assert.equal(await count('auth_policies'), 2, 'default and production, API 4.4')
    assert.equal(await count('signing_keys'), 2, 'one for each kind of token')
    assert.equal(a.ca, b.ca)
    assert.equal((await a.call('/oidc/keys')).text, (await b.call('/oidc/keys')).text)
  })

  await t.test('a login goes from one to the other at every step', async () => {
    const { authRequestId, verifier } = await beginLogin(a)
    const code = answerOf(await submitPassword(b, authRequestId)).get('code') ?? ''
    const reply = await exchange(a, good({ code, verifier }))
    assert.equal(reply.status, 200, reply.text)
    const { access_token } = reply.json()
    for (const instance of [b, a]) {
      const call = await instance.call(IDENTITY, bearer(access_token))
      assert.equal(call.status, 200, call.text)
      assert.equal(call.json().data.name, 'admin')
    }
  })

  await t.test('tokens of both have one issuer and one kid', async () => {
    const [one, other] = [await logIn(a), await logIn(b)]
    assert.equal(decodeJwt(one.access_token).iss, decodeJwt(other.access_token).iss)
    const kids = [one, other].map(({ access_token }) => decodeProtectedHeader(access_token).kid)
    assert.equal(kids[0], kids[1])
  })

  await t.test('R028: of completions of one auth request on both, one gets the code', async () => {
    const { authRequestId } = await beginLogin(a)
    const replies = await Promise.all(
      [a, b, a, b].map((instance) => submitPassword(instance, authRequestId)),
    )
    assert.deepEqual(replies.map(({ status }) => status).sort(), [302, 400, 400, 400])
  })

  await t.test('R030: of 20 exchanges of one code on both, one wins', async () => {
    const code = await obtainCode(a)
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) => exchange(i % 2 === 0 ? a : b, good(code))),
    )
    assert.equal(replies.filter(({ status }) => status === 200).length, 1)
    const refused = replies
      .filter(({ status }) => status !== 200)
      .map((reply) => reply.json().error)
    assert.deepEqual(new Set(refused), new Set(['invalid_grant']))
  })

  await t.test(
    'R030, D-34: a session that one instance ends is soon refused by the other',
    async () => {
      const code = await obtainCode(a)
      const { access_token } = (await exchange(a, good(code))).json()
      assert.equal((await b.call(IDENTITY, bearer(access_token))).status, 200)
      a.clock.advance(seconds(3))
      assert.equal((await exchange(a, good(code))).json().error, 'invalid_grant')
      const here = await a.call(IDENTITY, bearer(access_token))
      assert.equal(here.headers['www-authenticate'], INVALID, 'at once where it was ended')
      const there = await eventually(async () => {
        const reply = await b.call(IDENTITY, bearer(access_token))
        return reply.status === 200 ? undefined : reply
      }, 'the end of the session')
      assert.equal(there.status, 401)
      assert.equal(there.headers['www-authenticate'], INVALID)
    },
  )

  await t.test('R040: a device asks one, its user approves at the other', async () => {
    const device = await startDevice(a)
    await assertPoll(b, device, 'authorization_pending')
    await approveDevice(b, device)
    const replies = await Promise.all([a, b, a, b].map((instance) => poll(instance, device)))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 400, 400, 400])
    const { access_token } = replies.find(({ status }) => status === 200)?.json() ?? {}
    assert.equal((await b.call(IDENTITY, bearer(access_token))).status, 200)
  })

  await t.test('R040: of an approval here and a denial there, one counts', async () => {
    const device = await startDevice(a)
    const [here, there] = [await signInForDevice(a, device), await signInForDevice(b, device)]
    const [one, other] = [await openQuestion(a, here, device), await openQuestion(b, there, device)]
    const [approved, denied] = await Promise.all([one('approve'), other('deny')])
    assert.deepEqual([approved.status, denied.status].sort(), [200, 303])
    const reply = await poll(b, device)
    if (approved.status === 303) assert.equal(reply.status, 200, reply.text)
    else assert.equal(reply.json().error, 'access_denied')
  })

  await t.test('D-442: the devices of both count together', async () => {
    for (let n = 0; n < 20; n++) await askForDevice(n % 2 === 0 ? a : b)
    for (const instance of [a, b]) assert.equal((await askForDevice(instance)).status, 429)
  })

  await t.test('D-34: an instance that starts later knows what was ended before', async (t) => {
    const code = await obtainCode(b)
    const { access_token } = (await exchange(b, good(code))).json()
    b.clock.advance(seconds(3))
    await exchange(b, good(code))
    const { home, clock } = b
    await b.stop()
    const again = await startService(t, { home, clock })
    const reply = await again.client.call(`https://localhost:${portOf(again)}${IDENTITY}`, {
      headers: { host: new URL(again.baseUrl).host, ...bearer(access_token).headers },
    })
    assert.equal(reply.status, 401)
    assert.equal(reply.headers['www-authenticate'], INVALID)
  })
})

test('D-48: a start with another installation secret is refused, and says why', async (t) => {
  const shared = await installation(await migratedDatabase())
  const service = await shared.start(t)
  const { home, config } = await shared.foreignHome(t)
  await assert.rejects(
    () => startService(t, { home, config }),
    (error: Error) => {
      assert.equal(error.name, 'RefusedStart')
      assert.match(error.message, /made with a different installation secret/)
      assert.match(error.message, /every instance needs the same one/)
      assert.ok(error.message.includes(home), 'the file is named')
      return true
    },
  )
  const { access_token } = await logIn(service)
  assert.equal(
    (await service.call(IDENTITY, bearer(access_token))).status,
    200,
    'nothing is harmed',
  )
})

/** What every instance keeps a copy of: the ended sessions, and the rules. */
for (const table of ['session_endings', 'rule_versions']) {
  test(`D-34: an instance that can no longer read ${table} refuses calls`, (t) =>
    loseTouch(t, table))
}

async function loseTouch(t: TestContext, table: string): Promise<void> {
  const clock = new UptimeClock()
  const db = await migratedDatabase()
  const service = await startService(t, { clock, config: { db } })
  const { access_token } = await logIn(service)
  const locker = new Client({ connectionString: db })
  await locker.connect()
  t.after(() => locker.end())
  await locker.query('begin')
  await locker.query(`lock table ${table}`)
  clock.pass(seconds(6))
  const refused = await service.call(IDENTITY, bearer(access_token))
  assert.equal(refused.status, 503, refused.text)
  assert.equal(refused.json().error.code, 'NOT_READY')
  assert.match(String(refused.headers['retry-after']), /^\d+$/)
  assert.equal(refused.headers['www-authenticate'], undefined)
  assert.equal((await service.call('/oidc/keys')).status, 200, 'what needs no session goes on')

  await locker.query('rollback')
  const reply = await eventually(async () => {
    const again = await service.call(IDENTITY, bearer(access_token))
    return again.status === 503 ? undefined : again
  }, 'the recovery')
  assert.equal(reply.status, 200, 'it recovers by itself')
}

test('D-487: an instance that can no longer read the rules begins and refreshes no session', async (t) => {
  const clock = new UptimeClock()
  const db = await migratedDatabase()
  const service = await startService(t, { clock, config: { db } })
  const admin = await administrate(service)
  await admin.createIdentity({ type: 'Router', hosts: ['edge.example.org'] })
  const { refresh_token } = await logIn(service, { scope: 'openid offline_access' })
  const code = good(await obtainCode(service))
  const { authRequestId } = await beginLogin(service)
  const steps: Readonly<Record<string, () => Promise<Reply>>> = {
    'a legacy login': () => authenticate(service, ADMIN),
    // R077: the refusal does not depend on whether the name exists.
    'one with an unknown name': () => authenticate(service, { ...ADMIN, username: 'unknown' }),
    'a login': () => submitPassword(service, authRequestId),
    'an exchange': () => exchange(service, code),
    'a refresh': () => exchange(service, { grant_type: 'refresh_token', refresh_token }),
    'a redirect to a router': () =>
      authorize(
        service,
        authorizationParameters(pkce().challenge, {
          redirect_uri: 'https://edge.example.org/.latchkey/callback',
        }),
      ),
  }
  const locker = new Client({ connectionString: db })
  await locker.connect()
  t.after(() => locker.end())
  await locker.query('begin')
  await locker.query('lock table rule_versions')
  clock.pass(seconds(6))
  for (const [what, step] of Object.entries(steps)) {
    const refused = await step()
    assert.equal(refused.status, 503, `${what}: ${refused.text}`)
    assert.match(String(refused.headers['retry-after']), /^\d+$/, what)
  }

  await locker.query('rollback')
  await eventually(async () => {
    const { status } = await authenticate(service, ADMIN)
    return status === 503 ? undefined : true
  }, 'the recovery')
  for (const what of ['an exchange', 'a refresh']) {
    assert.equal((await steps[what]?.())?.status, 200, `${what}: nothing was spent`)
  }
})

/** Where an instance listens, whatever address it is known by. */
function portOf({ config }: Service): number {
  return config.listeners[0].bindPoints[0].interface.port
}
