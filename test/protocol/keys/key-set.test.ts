/** GET /oidc/keys: what verifiers get. D-32, R061, R063; RFC 7517, RFC 7518, RFC 7638. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { test } from 'node:test'
import { decodeProtectedHeader, type JWK } from 'jose'
import { inSeconds } from '../../../src/base/time/duration.ts'
import { PUBLISH_LEAD } from '../../../src/domain/tokens/keys/key-schedule.ts'
import { logIn } from '../../support/login/login.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

/** The members that RFC 7638 §3.2 hashes, in its order, and what RFC 7518 §6 makes public. */
const KINDS = {
  ES256: { kty: 'EC', crv: 'P-256', hashed: ['crv', 'kty', 'x', 'y'] },
  RS256: { kty: 'RSA', crv: undefined, hashed: ['e', 'kty', 'n'] },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', hashed: ['crv', 'kty', 'x'] },
} as const

/** RFC 7638 §3: SHA-256 of the required members as JSON without white space, in order. */
function thumbprint(jwk: Readonly<Record<string, unknown>>, members: readonly string[]): string {
  const required = Object.fromEntries(members.map((name) => [name, jwk[name]]))
  return createHash('sha256').update(JSON.stringify(required)).digest('base64url')
}

async function keysOf(service: Service): Promise<JWK[]> {
  const reply = await service.call('/oidc/keys')
  assert.equal(reply.status, 200)
  return reply.json().keys
}

for (const [algorithm, { kty, crv, hashed }] of Object.entries(KINDS)) {
  test(`the key set with ${algorithm}`, async (t) => {
    const oidc = { signingAlgorithm: algorithm, idTokenAlgorithm: algorithm }
    const config = { edge: { oidc } }
    const service = await startService(t, { config })
    const [key, idKey, ...others] = await keysOf(service)
    assert.ok(key && idKey)
    assert.deepEqual(others, [])
    assert.notEqual(key.kid, idKey.kid, 'D-320: two keys, even with one algorithm')

    await t.test('R061: the keys have their public members and no other', () => {
      const members = [...hashed, 'alg', 'kid', 'use'].sort()
      for (const one of [key, idKey]) {
        assert.deepEqual(Object.keys(one).sort(), members)
        assert.deepEqual(
          { kty: one.kty, crv: one.crv, alg: one.alg, use: one.use },
          { kty, crv, alg: algorithm, use: 'sig' },
        )
        for (const member of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'oth']) {
          assert.equal(member in one, false)
        }
      }
    })

    await t.test('D-23: the kid is the RFC 7638 thumbprint of the key', () => {
      assert.equal(key.kid, thumbprint({ ...key }, hashed))
      assert.match(key.kid ?? '', /^[\x21-\x7e]+$/)
    })

    await t.test('tokens name that kid, and discovery names that algorithm', async () => {
      const { access_token, id_token } = await logIn(service)
      assert.equal(decodeProtectedHeader(access_token).kid, key.kid)
      assert.equal(decodeProtectedHeader(id_token).kid, idKey.kid)
      const document = (await service.call('/.well-known/openid-configuration')).json()
      assert.deepEqual(document.id_token_signing_alg_values_supported, [algorithm])
      assert.equal(document.jwks_uri, `${service.baseUrl}/oidc/keys`)
    })

    await t.test('R110: no private member is in the database as it is', async () => {
      const rows = JSON.stringify(await sql(service, 'select * from signing_keys'))
      assert.match(rows, new RegExp(key.kid ?? 'none'))
      assert.doesNotMatch(rows, /\\"d\\"|PRIVATE KEY/)
    })
  })
}

test('D-320, OIDC Discovery §3: by default ID tokens are signed with RS256, access tokens with ES256', async (t) => {
  const service = await startService(t)
  const { access_token, id_token } = await logIn(service)
  assert.equal(decodeProtectedHeader(access_token).alg, 'ES256')
  assert.equal(decodeProtectedHeader(id_token).alg, 'RS256')
  const document = (await service.call('/.well-known/openid-configuration')).json()
  assert.deepEqual(document.id_token_signing_alg_values_supported, ['RS256'])
  const keys = await keysOf(service)
  assert.deepEqual(
    keys.map(({ kid, alg }) => [kid, alg]),
    [access_token, id_token].map((token) => {
      const { kid, alg } = decodeProtectedHeader(token)
      return [kid, alg]
    }),
  )
})

test('the key set as an answer', async (t) => {
  const service = await startService(t)

  await t.test(
    'D-32: verifiers may keep it, for less than a new key is published ahead',
    async () => {
      const reply = await service.call('/oidc/keys')
      const maxAge = /^public, max-age=(\d+)$/.exec(reply.headers['cache-control'] ?? '')?.[1]
      assert.ok(maxAge)
      assert.ok(Number(maxAge) < inSeconds(PUBLISH_LEAD))
      assert.match(reply.headers['content-type'] ?? '', /^application\/json/)
    },
  )

  await t.test('R112: it is open to pages of every origin, without credentials', async () => {
    const headers = { origin: 'https://anywhere.example' }
    const reply = await service.call('/oidc/keys', { headers })
    assert.equal(reply.headers['access-control-allow-origin'], '*')
    assert.equal(reply.headers['access-control-allow-credentials'], undefined)
  })

  await t.test('R061: kids are stable from one call and one start to the next', async (t) => {
    const before = await keysOf(service)
    assert.deepEqual(await keysOf(service), before)
    const { home, clock } = service
    await service.stop()
    assert.deepEqual(await keysOf(await startService(t, { home, clock })), before)
  })
})

test('R063: only the owner reads the database with the keys, and the secret that opens them', async (t) => {
  const service = await startService(t)
  const { db, secret, home } = service.config
  assert.ok(db.kind === 'sqlite' && secret.kind === 'file')
  for (const file of [db.path, `${db.path}-wal`, secret.path]) {
    assert.equal((await stat(file)).mode & 0o777, 0o600, file)
  }
  assert.equal((await stat(home)).mode & 0o077, 0)
})
