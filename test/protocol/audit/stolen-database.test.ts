/**
 * R110, R113. Attack: somebody has a copy of the database, a backup perhaps, and shows the service whatever is in it, as
 * every kind of credential there is. And what a logout leaves for him: nothing.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { handMadeCsr } from '../../support/certificates/csr.ts'
import { enrollByCsr, inviteNew } from '../../support/certificates/enrollment.ts'
import { enrolledPerson, partialLogin, submitCode } from '../../support/login/authenticator-app.ts'
import { CLIENT_API, legacyToken, ztSession } from '../../support/login/legacy.ts'
import { bearer, exchange, obtainCode } from '../../support/login/login.ts'
import { logInOffline, refresh, refreshed, revoke } from '../../support/login/refresh.ts'
import { administrate } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const CERTIFICATES = `${CLIENT_API}/current-api-session/certificates`

const tablesOf = async (service: Service): Promise<readonly string[]> =>
  (
    await sql(
      service,
      "select name from sqlite_master where type = 'table' and name not like 'sqlite%'",
    )
  ).map(({ name }) => String(name))

/** Every text that is stored, and every text inside stored JSON. */
async function storedTexts(service: Service): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const collect = (value: unknown): void => {
    if (typeof value === 'string') {
      found.add(value)
      if (/^[[{]/.test(value)) collect(JSON.parse(value))
    } else if (typeof value === 'object' && value !== null) {
      for (const one of Object.values(value)) collect(one)
    }
  }
  for (const table of await tablesOf(service)) collect(await sql(service, `select * from ${table}`))
  return found
}

test('R110: nothing in a stolen copy of the database opens anything', async (t) => {
  // So that each of his attempts is judged, and not turned away for their number.
  const service = await startService(t, { config: { edge: { limits: { failuresPerAddress: 0 } } } })
  const admin = await administrate(service)
  const person = await enrolledPerson(service, admin)
  const [invited, code] = [await inviteNew(admin, { ott: true }), await obtainCode(service)]
  const session = await logInOffline(service)
  const live = await refreshed(service, session.refresh_token)
  const legacy = await legacyToken(service)
  const { authRequestId } = await partialLogin(service, person)

  const stored = await storedTexts(service)
  assert.ok(stored.size > 100)

  await t.test('no credential that was handed out is in it', () => {
    const secrets = [
      ...[session.access_token, session.refresh_token, live.access_token, live.refresh_token],
      ...[live.id_token, legacy, code.code, code.verifier, invited.token, invited.jwt],
      ...[authRequestId, person.password, ...person.recoveryCodes],
      new URL(person.app.provisioningUrl).searchParams.get('secret') ?? '',
    ]
    const all = [...stored].join('\n')
    for (const secret of secrets) {
      assert.ok(secret.length >= 6)
      assert.equal(all.includes(secret), false)
    }
  })

  await t.test('nothing that is in it is taken as a credential', async () => {
    const csr = handMadeCsr()
    // A header takes printable characters alone, and a form needs no more than that either.
    const shown = [...stored].filter((text) => /^[\x21-\x7e]{6,4096}$/.test(text))
    assert.ok(shown.length > 50)
    for (const text of shown) {
      const form = { code_verifier: code.verifier, redirect_uri: code.redirectUri }
      const replies = {
        'access token': await service.call(`${CLIENT_API}/current-identity`, bearer(text)),
        'zt-session': await service.call(`${CLIENT_API}/current-identity`, ztSession(text)),
        'refresh token': await refresh(service, text),
        code: await exchange(service, { ...form, code: text }),
        'enrollment token': await enrollByCsr(service, text, csr),
      }
      for (const [kind, { status }] of Object.entries(replies)) {
        assert.ok([400, 401].includes(status), `${kind}: ${status}`)
      }
    }
    const codes = (await sql(service, 'select code_hash from recovery_codes')).slice(0, 3)
    for (const { code_hash } of codes) {
      const reply = await submitCode(service, authRequestId, String(code_hash))
      assert.equal(reply.status, 400, reply.text)
    }
  })

  await t.test('and what was handed out works all the same', async () => {
    assert.equal((await enrollByCsr(service, invited.token, handMadeCsr())).status, 200)
    assert.equal((await refresh(service, live.refresh_token)).status, 200)
  })
})

test('R113: a logout leaves nothing of the session in the database but the note that it has ended', async (t) => {
  const service = await startService(t)
  const logouts: Readonly<
    Record<string, (tokens: { id: string; refresh: string; access: string }) => Promise<number>>
  > = {
    end_session: async ({ id }) =>
      (await service.call(`/oidc/end_session?id_token_hint=${id}`)).status,
    'DELETE current-api-session': async ({ access }) =>
      (
        await service.call(`${CLIENT_API}/current-api-session`, {
          ...bearer(access),
          method: 'DELETE',
        })
      ).status,
    revoke: async ({ refresh }) => (await revoke(service, refresh)).status,
  }
  for (const [how, logOut] of Object.entries(logouts)) {
    await t.test(how, async () => {
      const first = await logInOffline(service)
      const tokens = await refreshed(service, first.refresh_token)
      const csr = { json: { csr: handMadeCsr() } }
      await service.call(CERTIFICATES, { ...bearer(tokens.access_token), ...csr })
      const id = String(decodeJwt(tokens.access_token)['z_asid'])
      const tables = ['api_sessions', 'refresh_tokens', 'session_certificates']
      const left = async () => {
        const counts: number[] = []
        for (const table of tables) {
          const column = table === 'api_sessions' ? 'id' : 'session_id'
          counts.push(
            (await sql(service, `select 1 from ${table} where ${column} = '${id}'`)).length,
          )
        }
        return counts
      }
      assert.deepEqual(await left(), [1, 2, 1])
      const { id_token, refresh_token, access_token } = tokens
      assert.equal(
        await logOut({ id: id_token, refresh: refresh_token, access: access_token }),
        200,
      )
      assert.deepEqual(await left(), [0, 0, 0])
      const noted = await sql(service, `select 1 from session_endings where subject = '${id}'`)
      assert.equal(noted.length, 1)
    })
  }

  await t.test('a zt-session', async () => {
    const legacy = ztSession(await legacyToken(service))
    const before = await sql(
      service,
      'select token_hash from api_sessions where token_hash is not null',
    )
    assert.equal(before.length, 1)
    await service.call(`${CLIENT_API}/current-api-session`, { ...legacy, method: 'DELETE' })
    const stored = await storedTexts(service)
    assert.equal(stored.has(String(before[0]?.['token_hash'])), false)
  })
})
