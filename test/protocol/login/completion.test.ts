/** From the password to the code: one code for one request, and nothing before it. SPEC Auth request; D-7, D-13. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import {
  answerOf,
  bearer,
  beginLogin,
  exchange,
  logIn,
  obtainCode,
  REDIRECT_URI,
  submitPassword,
} from '../../support/login/login.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const WRONG = { ...ADMIN, password: 'wrong horse battery' }

test('a login up to its code', async (t) => {
  const service = await startService(t)

  await t.test('D-11: the answer goes to the redirect_uri with code, state and iss', async () => {
    const { authRequestId } = await beginLogin(service, { state: 'some state' })
    const reply = await submitPassword(service, authRequestId)
    const location = new URL(reply.headers.location ?? '')
    assert.equal(`${location.origin}${location.pathname}`, REDIRECT_URI)
    assert.deepEqual([...location.searchParams.keys()], ['state', 'iss', 'code'])
    assert.equal(location.searchParams.get('state'), 'some state')
    assert.equal(location.searchParams.get('iss'), `${service.baseUrl}/oidc`)
    assert.equal(reply.headers['cache-control'], 'no-store')
    assert.equal(reply.headers['www-authenticate'], undefined)
  })

  await t.test('R029: a code has at least 128 random bits', async () => {
    const { code } = await obtainCode(service)
    assert.match(code, /^[A-Za-z0-9_-]+$/)
    assert.ok(Buffer.from(code, 'base64url').length >= 16)
    assert.notEqual((await obtainCode(service)).code, code)
  })

  await t.test('R035, D-103: a failed login leaves the auth request usable', async () => {
    const { authRequestId, verifier } = await beginLogin(service)
    for (let attempt = 0; attempt < 3; attempt++) {
      const refused = await submitPassword(service, authRequestId, WRONG)
      assert.equal(refused.status, 401)
      assert.equal(refused.json().error.code, 'INVALID_AUTH')
    }
    const code = answerOf(await submitPassword(service, authRequestId)).get('code') ?? undefined
    const form = { code, code_verifier: verifier, redirect_uri: REDIRECT_URI }
    assert.equal((await exchange(service, form)).status, 200)
  })

  await t.test('D-13: after the code is issued the login endpoints refuse', async () => {
    const { authRequestId, verifier } = await beginLogin(service)
    const code = answerOf(await submitPassword(service, authRequestId)).get('code') ?? undefined
    const refuses = async () => {
      for (const reply of [
        await submitPassword(service, authRequestId),
        await submitPassword(service, authRequestId, WRONG),
        await service.call(`/oidc/login/username?id=${authRequestId}`),
      ]) {
        assert.equal(reply.status, 400)
        assert.equal(reply.json().error.code, 'INVALID_AUTH_REQUEST')
      }
    }
    await refuses()
    const form = { code, code_verifier: verifier, redirect_uri: REDIRECT_URI }
    assert.equal((await exchange(service, form)).status, 200)
    await refuses()
  })

  await t.test(
    'R028: of two parallel completions of one auth request one gets a code',
    async () => {
      // Attack: a race between two posts of the same login, to hold two codes of one consent.
      for (let round = 0; round < 5; round++) {
        const { authRequestId } = await beginLogin(service)
        const replies = await Promise.all(
          Array.from({ length: 4 }, () => submitPassword(service, authRequestId)),
        )
        const statuses = replies.map(({ status }) => status).sort()
        assert.deepEqual(statuses, [302, 400, 400, 400])
        for (const refused of replies.filter(({ status }) => status === 400)) {
          assert.equal(refused.json().error.code, 'INVALID_AUTH_REQUEST')
        }
      }
    },
  )

  await t.test('R026: before the exchange nothing opens the API', async () => {
    const { authRequestId } = await beginLogin(service)
    const { code, verifier } = await obtainCode(service)
    for (const credential of [authRequestId, code, verifier]) {
      for (const prefix of ['/edge/client/v1', '/edge/management/v1']) {
        const reply = await service.call(`${prefix}/current-identity`, bearer(credential))
        assert.equal(reply.status, 401)
        assert.equal(reply.json().error.code, 'UNAUTHORIZED')
      }
    }
  })

  await t.test('R116: nothing is stored for a login before its first proof', async () => {
    const count = async () =>
      (await sql(service, 'select count(*) as n from auth_requests'))[0]?.['n']
    const before = await count()
    const { authRequestId } = await beginLogin(service)
    await service.call(`/oidc/login/username?id=${authRequestId}`)
    await submitPassword(service, authRequestId, WRONG)
    assert.equal(await count(), before)
  })

  await t.test('R083: a login adopts no session id from its caller', async () => {
    // Attack: fixation. The victim's session gets an id that the attacker knows.
    const chosen = { z_asid: 'chosen', sid: 'chosen', sessionId: 'chosen' }
    const first = await logIn(service, chosen)
    const second = await logIn(service, chosen)
    const ids = [first, second].map(({ access_token }) => decodeJwt(access_token)['z_asid'])
    assert.equal(ids.includes('chosen'), false)
    assert.notEqual(ids[0], ids[1])
  })
})

test('R029, R110: the database holds a code only as a hash, and no id, verifier or token at all', async (t) => {
  // Attack: somebody gets hold of a copy of the database files.
  const service = await startService(t)
  const secrets = await wholeLogin(service)
  const unspent = await obtainCode(service)
  const { path } = service.config.db as { path: string }
  const files = await Promise.all([path, `${path}-wal`].map((file) => readFile(file, 'latin1')))
  const stored = files.join('')
  assert.ok(stored.includes(await hashOfUnspent(service)), 'the files are those that hold the hash')
  for (const secret of [...secrets, unspent.code, unspent.verifier, ADMIN.password]) {
    assert.equal(stored.includes(secret), false)
  }
})

test('R034: no log line carries a password, id, code, verifier or token', async (t) => {
  const service = await startService(t)
  const secrets = await wholeLogin(service)
  await service.call('/edge/client/v1/current-identity?access_token=in-the-query')
  const lines = JSON.stringify(service.log)
  assert.match(lines, /\/oidc\/token/)
  for (const secret of [...secrets, ADMIN.password, 'in-the-query']) {
    assert.equal(lines.includes(secret), false)
  }
})

/** Everything in it that is a secret. */
async function wholeLogin(service: Service): Promise<string[]> {
  const { authRequestId, verifier } = await beginLogin(service)
  await submitPassword(service, authRequestId, WRONG)
  const code = answerOf(await submitPassword(service, authRequestId)).get('code') ?? ''
  const form = { code, code_verifier: verifier, redirect_uri: REDIRECT_URI }
  const tokens = (await exchange(service, form)).json()
  await service.call('/edge/client/v1/current-identity', bearer(tokens.access_token))
  return [authRequestId, verifier, code, tokens.access_token, tokens.id_token, WRONG.password]
}

async function hashOfUnspent(service: Service): Promise<string> {
  const query = "select code_hash from auth_requests where state = 'code-issued'"
  return String((await sql(service, query))[0]?.['code_hash'])
}
