/** A code becomes tokens, once, for the client that asked and with what it was asked for. D-7; RFC 6749, RFC 7636. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { milliseconds, seconds } from '../../../src/base/time/duration.ts'
import type { Reply } from '../../support/http-client.ts'
import { IDENTITY, INVALID } from '../../support/login/challenges.ts'
import { bearer, exchange, obtainCode, REDIRECT_URI } from '../../support/login/login.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const good = ({ code, verifier }: { code: string; verifier: string }) => ({
  code,
  code_verifier: verifier,
  redirect_uri: REDIRECT_URI,
})

function assertRefused(reply: Reply, error = 'invalid_grant', status = 400): void {
  assert.equal(reply.status, status, reply.text)
  assert.equal(reply.json().error, error)
  assert.equal(reply.json().access_token, undefined)
  assert.equal(reply.headers['cache-control'], 'no-store')
}

async function assertSpent(service: Service, code: Parameters<typeof good>[0]): Promise<void> {
  assertRefused(await exchange(service, good(code)))
}

const endings = (service: Service) =>
  sql(service, "select session_id, reason from events where type = 'session.ended'")

test('the exchange of a code', async (t) => {
  const service = await startService(t)
  service.clock.hold() // however long a test takes, no code is 2 s old

  await t.test('RFC 7636 §4.6: the right verifier gets the tokens', async () => {
    const reply = await exchange(service, good(await obtainCode(service)))
    assert.equal(reply.status, 200, reply.text)
  })

  await t.test('R032: a wrong, missing or malformed verifier is refused', async () => {
    const wrong = [
      'A'.repeat(43),
      undefined,
      '',
      'short',
      'A'.repeat(42),
      'A'.repeat(129),
      `${'A'.repeat(42)}ä`,
      `${'A'.repeat(42)} `,
      `${'A'.repeat(42)}+`,
    ]
    for (const verifier of wrong) {
      const code = await obtainCode(service)
      assertRefused(await exchange(service, { ...good(code), code_verifier: verifier }))
    }
  })

  await t.test('R032: the challenge itself is not a verifier', async () => {
    // Attack: the challenge was seen in the authorization request; `plain` would take it.
    const code = await obtainCode(service)
    assertRefused(await exchange(service, { ...good(code), code_verifier: code.challenge }))
  })

  await t.test('D-7: a wrong verifier spends the code: the right one fails after it', async () => {
    // Attack: guessing at the verifier of a stolen code, one try after the other.
    const code = await obtainCode(service)
    const wrong = { ...good(code), code_verifier: 'A'.repeat(43) }
    assertRefused(await exchange(service, wrong))
    await assertSpent(service, code)
  })

  await t.test(
    'R012: the redirect_uri of the token call must equal that of the authorization call',
    async () => {
      const other = [
        undefined,
        'http://127.0.0.1:9877/callback',
        `${REDIRECT_URI}/`,
        `${REDIRECT_URI}?x=1`,
        'http://localhost:9876/callback',
        REDIRECT_URI.toUpperCase(),
      ]
      for (const redirect of other) {
        const code = await obtainCode(service)
        assertRefused(await exchange(service, { ...good(code), redirect_uri: redirect }))
        await assertSpent(service, code)
      }
    },
  )

  await t.test('R031: another client_id is refused and does not consume the code', async () => {
    // Attack: spending a victim's code by presenting it as somebody else.
    const code = await obtainCode(service)
    for (const client of ['another', 'Service', 'service ', undefined]) {
      assertRefused(await exchange(service, { ...good(code), client_id: client }), 'invalid_client')
    }
    const basic = `Basic ${Buffer.from('another:').toString('base64')}`
    const form = Object.entries({ grant_type: 'authorization_code', ...good(code) })
    const other = await service.call('/oidc/token', { form, headers: { authorization: basic } })
    assertRefused(other, 'invalid_client', other.status)
    assert.equal((await exchange(service, good(code))).status, 200)
  })

  await t.test('R033: a code is not completed with the verifier of another request', async () => {
    // Attack: code injection. The attacker's client holds its own verifier and is fed a stolen code.
    const [victim, attacker] = [await obtainCode(service), await obtainCode(service)]
    const injected = { ...good(victim), code_verifier: attacker.verifier }
    assertRefused(await exchange(service, injected))
    assert.equal((await exchange(service, good(attacker))).status, 200)
  })

  await t.test('D-28: unknown, spent and wrongly accompanied codes share one wording', async () => {
    const spent = await obtainCode(service)
    await exchange(service, good(spent))
    const mismatched = await obtainCode(service)
    const replies = [
      await exchange(service, { ...good(spent), code: 'never-issued' }),
      await exchange(service, good(spent)),
      await exchange(service, { ...good(mismatched), code_verifier: 'B'.repeat(43) }),
      await exchange(service, { ...good(spent), code: 'x'.repeat(20_000) }),
    ]
    for (const reply of replies) assertRefused(reply)
    assert.equal(new Set(replies.map(({ text }) => text)).size, 1)
  })

  await t.test(
    'R030: of 20 parallel exchanges exactly one wins, and its tokens stand',
    async () => {
      const code = await obtainCode(service)
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => exchange(service, good(code))),
      )
      const [winner, ...others] = replies.filter(({ status }) => status === 200)
      assert.ok(winner)
      assert.deepEqual(others, [])
      for (const reply of replies.filter(({ status }) => status !== 200)) assertRefused(reply)
      const call = await service.call(IDENTITY, bearer(winner.json().access_token))
      assert.equal(call.status, 200)
    },
  )

  await t.test('R029: the store knows a code only by its hash', async () => {
    const { code } = await obtainCode(service)
    const rows = await sql(service, 'select * from auth_requests')
    assert.equal(JSON.stringify(rows).includes(code), false)
    const hash = rows.at(-1)?.['code_hash']
    assertRefused(
      await exchange(service, { ...good(await obtainCode(service)), code: String(hash) }),
    )
  })
})

test('a code that comes again', async (t) => {
  const service = await startService(t)
  service.clock.hold()

  await t.test('D-7: within 2 s it is refused, and the tokens stand', async () => {
    const code = await obtainCode(service)
    const { access_token } = (await exchange(service, good(code))).json()
    await assertSpent(service, code)
    service.clock.advance(seconds(2))
    await assertSpent(service, code)
    assert.equal((await service.call(IDENTITY, bearer(access_token))).status, 200)
    assert.deepEqual(await endings(service), [])
  })

  await t.test('R030: more than 2 s later it ends the session that came from it', async () => {
    // Attack: a code leaks from a log or a Referer and is tried after the client has used it.
    const [stolen, other] = [await obtainCode(service), await obtainCode(service)]
    const { access_token } = (await exchange(service, good(stolen))).json()
    const untouched = (await exchange(service, good(other))).json()
    service.clock.advance(milliseconds(2_001))
    await assertSpent(service, stolen)
    for (const path of [IDENTITY, '/edge/management/v1/current-api-session']) {
      const refused = await service.call(path, bearer(access_token))
      assert.equal(refused.status, 401)
      assert.equal(refused.headers['www-authenticate'], INVALID)
    }
    const stands = await service.call(IDENTITY, bearer(untouched.access_token))
    assert.equal(stands.status, 200, 'no other session of the identity ends')
    const sessionId = decodeJwt(access_token)['z_asid']
    assert.deepEqual(
      (await endings(service)).map((event) => ({ ...event })),
      [{ session_id: sessionId, reason: 'code-reused' }],
    )
  })

  await t.test(
    'R030: also when the thief has no verifier, and as often as it is tried',
    async () => {
      const stolen = await obtainCode(service)
      const { access_token } = (await exchange(service, good(stolen))).json()
      service.clock.advance(seconds(3))
      const before = (await endings(service)).length
      for (let attempt = 0; attempt < 3; attempt++) {
        const theft = { ...good(stolen), code_verifier: undefined, redirect_uri: undefined }
        assertRefused(await exchange(service, theft))
      }
      const refused = await service.call(IDENTITY, bearer(access_token))
      assert.equal(refused.headers['www-authenticate'], INVALID)
      assert.equal((await endings(service)).length, before + 1, 'one end, one event')
    },
  )

  await t.test('R031: another client cannot end a session by naming its code', async () => {
    const code = await obtainCode(service)
    const { access_token } = (await exchange(service, good(code))).json()
    service.clock.advance(seconds(3))
    assertRefused(
      await exchange(service, { ...good(code), client_id: 'another' }),
      'invalid_client',
    )
    assert.equal((await service.call(IDENTITY, bearer(access_token))).status, 200)
  })
})

test('R029: a code lives for 60 seconds', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const [early, late] = [await obtainCode(service), await obtainCode(service)]
  service.clock.advance(milliseconds(59_999))
  assert.equal((await exchange(service, good(early))).status, 200)
  service.clock.advance(milliseconds(1))
  await assertSpent(service, late)
})

test('R047: a code is not accepted if its identity was disabled in between', async (t) => {
  const service = await startService(t)
  const code = await obtainCode(service)
  await sql(service, 'update identities set disabled_at = 1')
  assertRefused(await exchange(service, good(code)))
  await sql(service, 'update identities set disabled_at = null')
  await assertSpent(service, code)
})

test('R030: an ended session stays ended for as long as its token would have lived', async (t) => {
  // Attack: the session of a stolen code is ended after the operator has shortened the life of tokens; its old,
  // longer token must not come back to life when a token of the new length would have died.
  const before = await startService(t, { config: lifeOf('2h') })
  const code = await obtainCode(before)
  const { access_token } = (await exchange(before, good(code))).json()
  const { home, clock } = before
  await before.stop()
  const service = await startService(t, { home, clock, config: lifeOf('1m') })
  clock.advance(seconds(3))
  await assertSpent(service, code)
  const [ending] = await sql(service, 'select keep_until from session_endings')
  assert.ok(Number(ending?.['keep_until']) >= Number(decodeJwt(access_token).exp) * 1_000)
})

const lifeOf = (accessTokenDuration: string) => ({ edge: { oidc: { accessTokenDuration } } })
