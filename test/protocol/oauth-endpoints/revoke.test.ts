/** /oidc/revoke: a refresh token takes its session along, an access token goes alone. RFC 7009, D-31, R050. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { minutes } from '../../../src/base/time/duration.ts'
import { TestClock } from '../../support/clocks/clock.ts'
import { eventually } from '../../support/eventually.ts'
import type { CallOptions, Reply } from '../../support/http-client.ts'
import { answerTo, EXPIRED, INVALID } from '../../support/login/challenges.ts'
import { logIn } from '../../support/login/login.ts'
import {
  assertOauthError,
  assertRefreshRefused,
  eventsOf,
  logInOffline,
  refresh,
  refreshed,
  revoke,
} from '../../support/login/refresh.ts'
import { type Service, startService } from '../../support/service.ts'
import { thiefOf } from '../../support/signing.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'
import { sql } from '../../support/stores/sql.ts'

after(async () => (await startPostgres()).stop())

const sessionOf = ({ access_token }: { readonly access_token: string }) =>
  String(decodeJwt(access_token)['z_asid'])

/** The same for every token, good or not (RFC 7009 §2.2). */
function assertRevoked(reply: Reply): void {
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(reply.json(), {})
  assert.equal(reply.headers['cache-control'], 'no-store')
  // D-363: it names what has ended, whether this token was good or not.
  assert.match(String(reply.headers['latchkey-ending']), /^[\d,-]+\.\w+\.[\w-]{22}$/)
}

const rows = async (service: Service) =>
  Promise.all(
    ['session_endings', 'events'].map(async (table) => {
      const [row] = await sql(service, `select count(*) as n from ${table}`)
      return Number(row?.['n'])
    }),
  )

test('revocation', async (t) => {
  const service = await startService(t)

  await t.test('R050: a refresh token ends its session, and no other', async () => {
    const [one, other] = [await logInOffline(service), await logInOffline(service)]
    const second = await refreshed(service, one.refresh_token)
    const reply = await revoke(service, second.refresh_token)
    assertRevoked(reply)
    const path = `/edge/client/v1/endings/${reply.headers['latchkey-ending']}?wait=10`
    assert.equal((await service.call(path)).json().data.outcome, 'confirmed')
    for (const tokens of [one, second]) {
      assert.equal(await answerTo(service, tokens.access_token), INVALID)
      assertRefreshRefused(await refresh(service, tokens.refresh_token))
    }
    await refreshed(service, other.refresh_token)
    const events = await eventsOf(service, sessionOf(one))
    assert.deepEqual(events, ['session.ended: revoked', 'token.issued', 'token.refreshed'])
  })

  await t.test('R050: a spent refresh token ends its session too', async () => {
    const one = await logInOffline(service)
    const second = await refreshed(service, one.refresh_token)
    assertRevoked(await revoke(service, one.refresh_token))
    assert.equal(await answerTo(service, second.access_token), INVALID)
    assertRefreshRefused(await refresh(service, second.refresh_token))
  })

  await t.test('D-31: an access token goes alone', async () => {
    const one = await logInOffline(service)
    const second = await refreshed(service, one.refresh_token)
    assertRevoked(await revoke(service, one.access_token))
    assert.equal(await answerTo(service, one.access_token), INVALID)
    assert.equal(await answerTo(service, second.access_token), 'taken')
    const third = await refreshed(service, second.refresh_token)
    assert.equal(await answerTo(service, third.access_token), 'taken')
    const events = await eventsOf(service, sessionOf(one))
    assert.deepEqual(events, [
      'token.issued',
      'token.refreshed',
      'token.refreshed',
      'token.revoked',
    ])
  })

  await t.test('revoking twice is revoking once', async () => {
    const { access_token, refresh_token } = await logInOffline(service)
    for (const token of [access_token, refresh_token]) {
      assertRevoked(await revoke(service, token))
      const before = await rows(service)
      assertRevoked(await revoke(service, token))
      assert.deepEqual(await rows(service), before)
    }
  })

  await t.test('RFC 7009 §2.1: a hint about the kind of the token changes nothing', async () => {
    for (const hint of ['access_token', 'refresh_token', 'saml', '']) {
      const { access_token, refresh_token } = await logInOffline(service)
      assertRevoked(await revoke(service, access_token, { token_type_hint: hint }))
      assert.equal(await answerTo(service, access_token), INVALID)
      assertRevoked(await revoke(service, refresh_token, { token_type_hint: hint }))
      assertRefreshRefused(await refresh(service, refresh_token))
    }
  })

  await t.test(
    'R050: what is unknown or not ours is answered the same, and stored nowhere',
    async () => {
      // Attack: filling the database with revocations, or learning from an answer what a found token is.
      const tokens = await logInOffline(service)
      const thief = await thiefOf(service, tokens.access_token)
      const [header = '', payload = ''] = tokens.access_token.split('.')
      const strange = [
        'x',
        'lkr_never-issued',
        `${header}.${payload}.x`,
        tokens.id_token,
        await thief.sign({ iss: 'https://idp.example/' }),
        await thief.sign({ aud: 'another' }),
        await thief.sign({ exp: 1 }),
        await thief.sign({ z_t: 'x' }),
        await thief.sign({}, { typ: 'JWT' }),
        '\u0000',
        'x'.repeat(20_000),
      ]
      const before = await rows(service)
      for (const token of strange) assertRevoked(await revoke(service, token))
      assert.deepEqual(await rows(service), before)
      assert.equal(await answerTo(service, tokens.access_token), 'taken')
      await refreshed(service, tokens.refresh_token)
    },
  )

  await t.test('an access token without a refresh token beside it is revoked as well', async () => {
    const { access_token } = await logIn(service)
    assertRevoked(await revoke(service, access_token))
    assert.equal(await answerTo(service, access_token), INVALID)
  })

  await t.test('R031: another client, or one with a secret, revokes nothing', async () => {
    const { access_token, refresh_token } = await logInOffline(service)
    for (const client of ['another', undefined]) {
      for (const token of [access_token, refresh_token]) {
        const reply = await revoke(service, token, { client_id: client })
        assertOauthError(reply, 400, 'invalid_client')
      }
    }
    const secret = await revoke(service, refresh_token, { client_secret: 'secret' })
    assertOauthError(secret, 401, 'invalid_client')
    assert.equal(await answerTo(service, access_token), 'taken')
    await refreshed(service, refresh_token)
  })

  await t.test(
    'missing and repeated parameters, and anything but a form, are refused',
    async () => {
      const { access_token, refresh_token } = await logInOffline(service)
      const form: [string, string][] = [
        ['token', refresh_token],
        ['client_id', 'service'],
      ]
      const calls: readonly (readonly [CallOptions, number])[] = [
        [{ form: form.slice(1) }, 400],
        [{ form: [...form, ['token', 'another']] }, 400],
        [{ form: [...form, ['client_id', 'service']] }, 400],
        [{ json: Object.fromEntries(form) }, 415],
        [{ method: 'GET' }, 405],
      ]
      for (const [call, status] of calls) {
        assertOauthError(await service.call('/oidc/revoke', call), status, 'invalid_request')
      }
      assert.equal(await answerTo(service, access_token), 'taken')
    },
  )

  await t.test('an expired access token is past revoking, and stays expired', async () => {
    const { access_token } = await logIn(service)
    service.clock.advance(minutes(31))
    const before = await rows(service)
    assertRevoked(await revoke(service, access_token))
    assert.deepEqual(await rows(service), before)
    assert.equal(await answerTo(service, access_token), EXPIRED)
  })
})

test('revocation is in discovery, and open to the pages of listed origins', async (t) => {
  const origin = 'https://app.example.com'
  const service = await startService(t, { config: { edge: { api: { corsOrigins: [origin] } } } })
  const document = (await service.call('/.well-known/openid-configuration')).json()
  assert.equal(document.revocation_endpoint, `${service.baseUrl}/oidc/revoke`)
  assert.deepEqual(document.revocation_endpoint_auth_methods_supported, ['none'])
  for (const [from, allowed] of [
    [origin, origin],
    ['https://evil.example', undefined],
  ] as const) {
    const headers = { origin: from }
    const form = [['client_id', 'service'] as const, ['token', 'x'] as const]
    const reply = await service.call('/oidc/revoke', { form, headers })
    assertRevoked(reply)
    assert.equal(reply.headers['access-control-allow-origin'], allowed)
  }
})

test('D-34: a revoked access token is soon refused on every instance', async (t) => {
  const shared = await installation(await migratedDatabase())
  const clock = new TestClock()
  const [one, other] = await Promise.all([shared.start(t, { clock }), shared.start(t, { clock })])
  for (const kind of ['access_token', 'refresh_token'] as const) {
    const tokens = await logInOffline(one)
    assert.equal(await answerTo(other, tokens.access_token), 'taken')
    assertRevoked(await revoke(one, tokens[kind]))
    assert.equal(await answerTo(one, tokens.access_token), INVALID, 'here at once')
    const there = await eventually(async () => {
      const answer = await answerTo(other, tokens.access_token)
      return answer === 'taken' ? undefined : answer
    }, 'the end of the session at the other instance')
    assert.equal(there, INVALID)
  }
})
