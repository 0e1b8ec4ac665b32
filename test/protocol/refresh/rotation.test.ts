/**
 * `grant_type=refresh_token`: who gets a refresh token, and what each refresh gives. SPEC Token, SPEC Refresh token;
 * D-27, D-28, R036 to R048.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRemoteJWKSet, customFetch, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { hours, milliseconds, minutes, seconds } from '../../../src/base/time/duration.ts'
import { answerTo, EXPIRED } from '../../support/login/challenges.ts'
import { exchange, logIn, obtainCode, REDIRECT_URI } from '../../support/login/login.ts'
import {
  assertOauthError,
  assertRefreshRefused,
  logInOffline,
  refresh,
  refreshed,
} from '../../support/login/refresh.ts'
import { serviceAt, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

test('a refresh token', async (t) => {
  const service = await startService(t)

  await t.test('R044: comes with offline_access, and does not come without it', async () => {
    const { refresh_token, scope } = await logInOffline(service)
    assert.equal(typeof refresh_token, 'string')
    assert.equal(scope, 'openid offline_access')
    for (const asked of ['openid', 'openid profile', 'openid OFFLINE_ACCESS', 'openid offline']) {
      const tokens = await logIn(service, { scope: asked })
      assert.equal('refresh_token' in tokens, false, asked)
    }
  })

  await t.test(
    'R044: nothing else of a login without offline_access can be refreshed',
    async () => {
      // Attack: whatever looks like a token is tried as one.
      const code = await obtainCode(service)
      const reply = await exchange(service, {
        code: code.code,
        code_verifier: code.verifier,
        redirect_uri: REDIRECT_URI,
      })
      const { access_token, id_token } = reply.json()
      const session = String(decodeJwt(access_token)['z_asid'])
      for (const token of [access_token, id_token, code.code, code.verifier, session, 'lkr_']) {
        assertRefreshRefused(await refresh(service, token))
      }
    },
  )

  await t.test(
    'R046: has the prefix lkr_ and 256 bits, is not a JWT, and never comes twice',
    async () => {
      const { refresh_token } = await logInOffline(service)
      const all = [refresh_token]
      for (let i = 0; i < 5; i++) {
        all.push((await refreshed(service, all.at(-1) ?? '')).refresh_token)
      }
      for (const token of all) {
        assert.match(token, /^lkr_[A-Za-z0-9_-]{43}$/)
        assert.equal(Buffer.from(token.slice(4), 'base64url').length, 32)
        assert.throws(() => decodeJwt(token))
      }
      assert.equal(new Set(all).size, 6)
    },
  )

  await t.test('R046: is nowhere in the database, in the log or in the events', async () => {
    const first = (await logInOffline(service)).refresh_token
    const second = (await refreshed(service, first)).refresh_token
    const tables = ['refresh_tokens', 'api_sessions', 'events', 'auth_requests', 'session_endings']
    const stored = await Promise.all(tables.map((table) => sql(service, `select * from ${table}`)))
    const everything = JSON.stringify([stored, service.log])
    for (const token of [first, second]) {
      assert.equal(everything.includes(token), false)
      assert.equal(everything.includes(token.slice(4)), false)
    }
  })
})

test('a refresh', async (t) => {
  const service = await startService(t)
  service.clock.hold()

  await t.test('R036, R038: gives a whole new set, and the old refresh token is dead', async () => {
    const first = await logInOffline(service)
    service.clock.advance(minutes(1))
    const reply = await refresh(service, first.refresh_token)
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.headers['cache-control'], 'no-store')
    assert.match(reply.headers['content-type'] ?? '', /^application\/json/)
    const { access_token, id_token, refresh_token, refresh_after, ...rest } = reply.json()
    assert.ok(Number.isInteger(refresh_after) && refresh_after >= 1_080 && refresh_after < 1_620)
    assert.deepEqual(rest, {
      token_type: 'Bearer',
      expires_in: 1_800,
      scope: 'openid offline_access',
    })
    assert.notEqual(access_token, first.access_token)
    assert.notEqual(id_token, first.id_token)
    assert.notEqual(refresh_token, first.refresh_token)
    assertRefreshRefused(await refresh(service, first.refresh_token))
    await refreshed(service, refresh_token)
  })

  await t.test(
    'the new tokens verify with the published keys, and the old access token lives on',
    async () => {
      const first = await logInOffline(service)
      service.clock.advance(minutes(5))
      const second = await refreshed(service, first.refresh_token)
      const keys = createRemoteJWKSet(new URL(`${service.baseUrl}/oidc/keys`), {
        [customFetch]: service.client.fetch,
      })
      const currentDate = new Date(service.clock.now())
      const issuer = `${service.baseUrl}/oidc`
      const checks = { issuer, audience: 'service', currentDate }
      const access = await jwtVerify(second.access_token, keys, { ...checks, typ: 'at+jwt' })
      assert.equal(Number(access.payload.exp) - Number(access.payload.iat), 1_800)
      assert.equal(access.payload.iat, Math.floor(service.clock.now() / 1_000))
      await jwtVerify(second.id_token, keys, { ...checks, typ: 'JWT' })
      assert.equal(await answerTo(service, second.access_token), 'taken')
      // SPEC: only the refresh token is invalidated.
      assert.equal(await answerTo(service, first.access_token), 'taken')
    },
  )

  await t.test('R048: z_asid, auth_time, amr and the rest of the login stay for life', async () => {
    const first = await logInOffline(service, { nonce: 'a-nonce', configTypes: 'type-1' })
    const login = decodeJwt(first.access_token)
    const { iat, exp, jti, ...lasting } = login
    let current = first
    for (let i = 0; i < 4; i++) {
      service.clock.advance(hours(12))
      current = await refreshed(service, current.refresh_token)
      const next = decodeJwt(current.access_token)
      const { iat: nextIat, exp: nextExp, jti: nextJti, ...kept } = next
      assert.deepEqual(kept, lasting)
      assert.notEqual(nextJti, jti)
      assert.ok(Number(nextIat) > Number(iat))
      const id = decodeJwt(current.id_token)
      // OIDC Core §12.2: iss, sub, aud, auth_time as at first; a nonce only when it is the same.
      assert.equal(id['sid'], lasting['z_asid'])
      assert.equal(id['auth_time'], lasting['auth_time'])
      assert.deepEqual(id['amr'], ['pwd'])
      assert.equal(id['nonce'], undefined)
      assert.equal(id.sub, lasting.sub)
    }
    assert.deepEqual(lasting['z_ct'], ['type-1'])
  })

  await t.test(
    'R045: a scope narrows the access token, and the chain keeps what was granted',
    async () => {
      const asked = 'openid profile offline_access'
      const first = await logInOffline(service, { scope: asked })
      const narrow = await refreshed(service, first.refresh_token, { scope: 'openid' })
      assert.equal(narrow.scope, 'openid')
      assert.equal(decodeJwt(narrow.access_token)['scope'], 'openid')
      const wide = await refreshed(service, narrow.refresh_token)
      assert.equal(wide.scope, asked)
      assert.equal(decodeJwt(wide.access_token)['scope'], asked)
    },
  )

  await t.test(
    'R045: a scope that was not granted is invalid_scope, and spends nothing',
    async () => {
      const { refresh_token } = await logInOffline(service)
      for (const scope of [
        'openid profile',
        'profile',
        'admin',
        'openid offline_access x',
        '%00',
      ]) {
        assertOauthError(await refresh(service, refresh_token, { scope }), 400, 'invalid_scope')
      }
      await refreshed(service, refresh_token)
    },
  )

  await t.test('RFC 6749 §3.2: a scope without a value is not a scope', async () => {
    const { refresh_token } = await logInOffline(service)
    const { scope } = await refreshed(service, refresh_token, { scope: '' })
    assert.equal(scope, 'openid offline_access')
  })

  await t.test('R031: another client is refused, and the token is not spent', async () => {
    // Attack: spending a victim's token by presenting it as somebody else.
    const { refresh_token } = await logInOffline(service)
    for (const client of ['another', 'Service', 'service ', '', undefined]) {
      const reply = await refresh(service, refresh_token, { client_id: client })
      assertOauthError(reply, 400, 'invalid_client')
    }
    const secret = await refresh(service, refresh_token, { client_secret: 'secret' })
    assertOauthError(secret, 401, 'invalid_client')
    await refreshed(service, refresh_token)
  })

  await t.test('R014: repeated and missing parameters are refused, and spend nothing', async () => {
    const { refresh_token } = await logInOffline(service)
    const form: [string, string][] = [
      ['grant_type', 'refresh_token'],
      ['client_id', 'service'],
      ['refresh_token', refresh_token],
      ['scope', 'openid'],
    ]
    for (const [name, value] of form) {
      for (const again of [value, 'another']) {
        const reply = await service.call('/oidc/token', { form: [...form, [name, again]] })
        assertOauthError(reply, 400, 'invalid_request')
        assert.match(reply.json().error_description, new RegExp(`${name} is repeated`))
      }
    }
    for (const missing of ['', undefined]) {
      const reply = await exchange(service, { grant_type: 'refresh_token', refresh_token: missing })
      assertOauthError(reply, 400, 'invalid_request')
      assert.match(reply.json().error_description, /refresh_token is missing/)
    }
    assertOauthError(
      await refresh(service, refresh_token, { grant_type: 'refresh' }),
      400,
      'unsupported_grant_type',
    )
    const json = Object.fromEntries(form)
    assertOauthError(await service.call('/oidc/token', { json }), 415, 'invalid_request')
    await refreshed(service, refresh_token)
  })

  await t.test('R067: a refresh token in the query of the call is not read', async () => {
    const { refresh_token } = await logInOffline(service)
    const query = new URLSearchParams({ grant_type: 'refresh_token', refresh_token })
    const reply = await service.call(`/oidc/token?${query}`, { form: [['client_id', 'service']] })
    assertOauthError(reply, 400, 'invalid_request')
    await refreshed(service, refresh_token)
  })

  await t.test('D-28: whatever is wrong with a refresh token, it is said in one way', async () => {
    const spent = (await logInOffline(service)).refresh_token
    await refreshed(service, spent)
    const ended = await logInOffline(service)
    await service.call(`/oidc/end_session?id_token_hint=${ended.id_token}`)
    const good = (await logInOffline(service)).refresh_token
    const changed = `${good.slice(0, -1)}${good.endsWith('A') ? 'B' : 'A'}`
    const wrong = [
      spent,
      ended.refresh_token,
      'lkr_never-issued',
      changed,
      good.slice(0, -1),
      `${good}A`,
      ` ${good}`,
      good.toLowerCase(),
      good.replace('lkr_', ''),
      '\u0000',
      'ä'.repeat(1_000),
      'x'.repeat(40_000),
    ]
    for (const token of wrong) assertRefreshRefused(await refresh(service, token))
    await refreshed(service, good)
  })

  await t.test(
    'D-28: a client library that authenticates by HTTP Basic refreshes too',
    async () => {
      const { refresh_token } = await logInOffline(service)
      const form: [string, string][] = [
        ['grant_type', 'refresh_token'],
        ['refresh_token', refresh_token],
      ]
      const authorization = `Basic ${Buffer.from('service:').toString('base64')}`
      const reply = await service.call('/oidc/token', { form, headers: { authorization } })
      assert.equal(reply.status, 200, reply.text)
    },
  )
})

test('how long a refresh token lives', async (t) => {
  const oidc = {
    accessTokenDuration: '1m',
    refreshTokenDuration: '1h',
    maxSessionDuration: '3h',
  }
  const service = await startService(t, { config: { edge: { oidc } } })
  service.clock.hold()
  const { clock } = service

  await t.test('it is good until refreshTokenDuration has passed, to the millisecond', async () => {
    const [early, late] = [await logInOffline(service), await logInOffline(service)]
    clock.advance(milliseconds(hours(1) - 1))
    await refreshed(service, early.refresh_token)
    clock.advance(milliseconds(1))
    assertRefreshRefused(await refresh(service, late.refresh_token))
  })

  await t.test('its lifetime starts again with every refresh', async () => {
    let { refresh_token } = await logInOffline(service)
    for (let i = 0; i < 3; i++) {
      clock.advance(minutes(50))
      ;({ refresh_token } = await refreshed(service, refresh_token))
    }
  })

  await t.test(
    'R043: maxSessionDuration after the login the chain ends, however busy it is',
    async () => {
      let { refresh_token, access_token } = await logInOffline(service)
      for (let i = 0; i < 3; i++) {
        clock.advance(minutes(59))
        ;({ refresh_token, access_token } = await refreshed(service, refresh_token))
      }
      clock.advance(milliseconds(minutes(3) - 1))
      ;({ refresh_token, access_token } = await refreshed(service, refresh_token))
      clock.advance(milliseconds(1))
      assertRefreshRefused(await refresh(service, refresh_token))
      // D-24: the last access token lives its own minute and not longer.
      assert.equal(await answerTo(service, access_token), 'taken')
      clock.advance(seconds(60))
      assert.equal(await answerTo(service, access_token), EXPIRED)
    },
  )

  await t.test(
    'D-34: a session is kept as long as its last access token, so that it can be ended',
    async () => {
      let last = await logInOffline(service)
      for (const pause of [minutes(59), minutes(59), minutes(59), seconds(179)]) {
        clock.advance(pause)
        last = await refreshed(service, last.refresh_token)
      }
      const { z_asid, exp } = decodeJwt(last.access_token)
      const [row] = await sql(service, `select expires_at from api_sessions where id = '${z_asid}'`)
      assert.equal(Number(row?.['expires_at']) / 1_000, exp)
    },
  )
})

test('D-2: the issuer of the login stays the iss of every token, wherever it is refreshed', async (t) => {
  const service = await startService(t)
  const [, baseUrl] = service.instance.listeners[0]?.baseUrls ?? []
  assert.ok(baseUrl)
  const other = serviceAt(service, baseUrl)
  const first = await logInOffline(service)
  const second = await refreshed(other, first.refresh_token)
  for (const token of [second.access_token, second.id_token]) {
    assert.equal(decodeJwt(token).iss, `${service.baseUrl}/oidc`)
  }
  assert.equal(await answerTo(other, second.access_token), 'taken')
})

for (const [signingAlgorithm, idTokenAlgorithm] of [
  ['RS256', 'EdDSA'],
  ['EdDSA', 'ES256'],
]) {
  test(`a refresh signs with ${signingAlgorithm} and ${idTokenAlgorithm} where those are configured`, async (t) => {
    const oidc = { signingAlgorithm, idTokenAlgorithm }
    const service = await startService(t, { config: { edge: { oidc } } })
    const { refresh_token } = await logInOffline(service)
    const { access_token, id_token } = await refreshed(service, refresh_token)
    assert.equal(decodeProtectedHeader(access_token).alg, signingAlgorithm)
    assert.equal(decodeProtectedHeader(id_token).alg, idTokenAlgorithm)
  })
}
