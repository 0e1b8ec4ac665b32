/** Refreshing by token exchange, as the Go SDK does: RFC 8693, D-315. Rotation and theft detection are those of D-27. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { TestClock } from '../../support/clocks/clock.ts'
import { exchangeAsGo, logInAsGo, OPENZITI, TOKEN_TYPES } from '../../support/login/openziti.ts'
import { type Service, startService } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'

const isAlive = async (service: Service, token: string) =>
  (
    await service.call('/edge/client/v1/current-identity', {
      headers: { authorization: `Bearer ${token}` },
    })
  ).status === 200

const refusal = (reply: { status: number; json(): { error: string } }) => [
  reply.status,
  reply.json().error,
]

test('a pair of calls gives new tokens and an ID token, again and again', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  let { access_token: access, refresh_token: token } = await logInAsGo(service)
  for (let i = 0; i < 3; i++) {
    const first = await exchangeAsGo(service, token, 'refresh_token')
    assert.equal(first.status, 200, first.text)
    const next = first.json()
    assert.equal(next.issued_token_type, `${TOKEN_TYPES}:refresh_token`)
    assert.notEqual(next.refresh_token, token)
    const second = await exchangeAsGo(service, token, 'id_token')
    assert.equal(second.status, 200, second.text)
    const { access_token: idToken, ...rest } = second.json()
    assert.equal(rest.issued_token_type, `${TOKEN_TYPES}:id_token`)
    assert.equal(rest.token_type, 'N_A')
    assert.equal('refresh_token' in rest, false)
    const { aud, sub } = decodeJwt(idToken)
    assert.deepEqual([aud, sub], ['native', decodeJwt(next.access_token).sub])
    // Attack: the ID token is used as an access token, because it came under that name.
    assert.equal(await isAlive(service, idToken), false)
    access = next.access_token
    token = next.refresh_token
  }
  assert.ok(await isAlive(service, access))
})

test('a third call with the spent token gets nothing; when the successor is used, it ends the session', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const { refresh_token: token } = await logInAsGo(service)
  const { access_token, refresh_token } = (
    await exchangeAsGo(service, token, 'refresh_token')
  ).json()
  assert.equal((await exchangeAsGo(service, token, 'id_token')).status, 200)
  for (const requested of ['id_token', 'refresh_token'] as const) {
    const again = await exchangeAsGo(service, token, requested)
    assert.deepEqual(refusal(again), [400, 'invalid_grant'])
  }
  assert.ok(await isAlive(service, access_token), 'within ten seconds it may be a lost answer')

  const later = (await exchangeAsGo(service, refresh_token, 'refresh_token')).json()
  // Attack: whoever has the old token asks for an ID token.
  assert.deepEqual(refusal(await exchangeAsGo(service, token, 'id_token')), [400, 'invalid_grant'])
  assert.equal(await isAlive(service, later.access_token), false, 'a theft ends the session')
})

test('a second call that comes too late is a reuse', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const { refresh_token: token } = await logInAsGo(service)
  const { access_token } = (await exchangeAsGo(service, token, 'refresh_token')).json()
  service.clock.advance(31_000 as never)
  assert.deepEqual(refusal(await exchangeAsGo(service, token, 'id_token')), [400, 'invalid_grant'])
  assert.equal(await isAlive(service, access_token), false)
})

test('of many second calls at once one gets an ID token, and the session lives on', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const { refresh_token: token } = await logInAsGo(service)
  const { access_token } = (await exchangeAsGo(service, token, 'refresh_token')).json()
  const replies = await Promise.all(
    Array.from({ length: 12 }, () => exchangeAsGo(service, token, 'id_token')),
  )
  assert.equal(replies.filter(({ status }) => status === 200).length, 1)
  assert.ok(await isAlive(service, access_token))
})

test('on PostgreSQL: a pair over two instances, and of many second calls at both one gets an ID token', async (t) => {
  const shared = await installation(await migratedDatabase())
  const clock = new TestClock()
  const config = OPENZITI
  const [a, b] = await Promise.all([
    shared.start(t, { clock, config }),
    shared.start(t, { clock, config }),
  ])
  let { refresh_token: token } = await logInAsGo(a)
  const first = await exchangeAsGo(a, token, 'refresh_token')
  assert.equal(first.status, 200, first.text)
  assert.equal((await exchangeAsGo(b, token, 'id_token')).status, 200)

  token = first.json().refresh_token
  const { access_token } = (await exchangeAsGo(b, token, 'refresh_token')).json()
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, i) => exchangeAsGo(i % 2 === 0 ? a : b, token, 'id_token')),
  )
  assert.equal(replies.filter(({ status }) => status === 200).length, 1)
  for (const reply of replies.filter(({ status }) => status !== 200)) {
    assert.deepEqual(refusal(reply), [400, 'invalid_grant'])
  }
  assert.ok(await isAlive(a, access_token))
})

test('with a retry window a lost answer of either call may be repeated', async (t) => {
  const config = { edge: { ...OPENZITI.edge, oidc: { refreshRetryWindow: '20s' } } }
  const service = await startService(t, { config })
  const { refresh_token: token } = await logInAsGo(service)
  const first = (await exchangeAsGo(service, token, 'refresh_token')).json()
  const again = (await exchangeAsGo(service, token, 'refresh_token')).json()
  assert.equal(again.refresh_token, first.refresh_token)
  for (let i = 0; i < 2; i++) {
    assert.equal((await exchangeAsGo(service, token, 'id_token')).status, 200)
  }
})

test('mistakes are refused and spend nothing', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const { refresh_token: token } = await logInAsGo(service)
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    ['refresh_token', { actor_token: 'x' }, 'invalid_request'],
    ['refresh_token', { audience: 'x' }, 'invalid_request'],
    ['refresh_token', { subject_token: '' }, 'invalid_request'],
    ['refresh_token', { subject_token_type: `${TOKEN_TYPES}:access_token` }, 'invalid_request'],
    ['refresh_token', { scope: 'admin' }, 'invalid_scope'],
    ['access_token', {}, 'invalid_request'],
    // The ID token comes second.
    ['id_token', {}, 'invalid_request'],
    ['refresh_token', { subject_token: 'lkr_unknown' }, 'invalid_grant'],
    ['id_token', { subject_token: 'lkr_unknown' }, 'invalid_grant'],
  ]
  for (const [requested, changes, error] of cases) {
    const reply = await exchangeAsGo(service, token, requested as 'id_token', changes)
    assert.deepEqual(refusal(reply), [400, error], JSON.stringify([requested, changes]))
  }
  // Attack: another client that has seen the token.
  const other = { headers: { authorization: `Basic ${btoa('openziti:')}` } }
  for (const requested of ['refresh_token', 'id_token'] as const) {
    const reply = await exchangeAsGo(service, token, requested, {}, other)
    assert.deepEqual(refusal(reply), [400, 'invalid_grant'])
  }
  assert.equal((await exchangeAsGo(service, token, 'refresh_token')).status, 200)
})
