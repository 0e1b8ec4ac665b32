/**
 * What an authenticated call gets: the two headers of its expiry on every answer, and bodies that fit the contract.
 * SPEC Response headers; D-39; API 1, 4.1, 4.7.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { milliseconds, minutes, seconds } from '../../../src/base/time/duration.ts'
import { CurrentApiSessionReply } from '../../../src/contract/current-api-session.ts'
import { CurrentIdentityReply } from '../../../src/contract/current-identity.ts'
import { ApiError } from '../../../src/contract/envelope.ts'
import { VersionReply } from '../../../src/contract/version.ts'
import type { Reply } from '../../support/http-client.ts'
import { INVALID } from '../../support/login/challenges.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const PREFIXES = ['/edge/client/v1', '/edge/management/v1']

/** The expiry in both headers is that of the token, seen from the service's clock. */
function assertExpiry(service: Service, reply: Reply, token: string): void {
  const end = Number(decodeJwt(token).exp) * 1_000
  assert.equal(reply.headers['expires-at'], new Date(end).toISOString())
  const left = Math.floor((end - service.clock.now()) / 1_000)
  assert.equal(reply.headers['expiration-seconds'], String(left))
}

test('answers to authenticated calls', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const { access_token } = await logIn(service, { scope: 'openid profile' })
  const call = (path: string, method = 'GET') =>
    service.call(path, { method, ...bearer(access_token) })

  for (const prefix of PREFIXES) {
    await t.test(`API 4.7: ${prefix}/current-api-session fits the contract`, async () => {
      const reply = await call(`${prefix}/current-api-session`)
      assert.equal(reply.status, 200, reply.text)
      const body = reply.json()
      // A shape drops what it does not know, so that equality means: nothing is missing and nothing is too much.
      assert.deepEqual(CurrentApiSessionReply.parse(body), body)
      const claims = decodeJwt(access_token)
      assert.equal(body.data.id, claims['z_asid'])
      assert.equal(body.data.identityId, claims.sub)
      assert.equal(body.data.identity.name, 'admin')
      assert.equal(body.data.kind, 'oidc')
      assert.equal(body.data.clientId, 'service')
      assert.equal(body.data.ipAddress, '127.0.0.1')
      assert.deepEqual(body.data.amr, ['pwd'])
      assert.equal(body.data.expiresAt, reply.headers['expires-at'])
      assert.equal(String(body.data.expirationSeconds), reply.headers['expiration-seconds'])
      assert.equal(reply.headers['cache-control'], 'no-store')
    })

    await t.test(`API 4.1: ${prefix}/current-identity fits the contract`, async () => {
      const reply = await call(`${prefix}/current-identity`)
      assert.equal(reply.status, 200, reply.text)
      const body = reply.json()
      assert.deepEqual(CurrentIdentityReply.parse(body), body)
      assert.equal(body.data.id, decodeJwt(access_token).sub)
      assert.equal(body.data.name, 'admin')
      assert.equal(body.data.isAdmin, true)
      assert.equal(body.data.authPolicyId, 'default')
      assert.equal(body.data.disabled, false)
    })

    await t.test(`API 3.1: ${prefix}/version fits the contract and needs nobody`, async () => {
      const reply = await service.call(`${prefix}/version`)
      assert.equal(reply.status, 200)
      assert.deepEqual(VersionReply.parse(reply.json()), reply.json())
    })

    for (const name of ['current-api-session', 'current-identity']) {
      await t.test(`R070: ${prefix}/${name} says when the token ends`, async () => {
        assertExpiry(service, await call(`${prefix}/${name}`), access_token)
        assertExpiry(service, await call(`${prefix}/${name}`, 'HEAD'), access_token)
      })

      await t.test(`D-39: ${prefix}/${name} says it also with an error`, async () => {
        const reply = await call(`${prefix}/${name}?x=%zz`)
        assert.equal(reply.status, 400)
        assert.deepEqual(ApiError.parse(reply.json()), reply.json())
        assert.equal(reply.json().error.code, 'COULD_NOT_VALIDATE')
        assertExpiry(service, reply, access_token)
      })
    }
  }

  await t.test('R070: both headers count down together, to the last second', async () => {
    const path = '/edge/client/v1/current-identity'
    for (const step of [milliseconds(1), milliseconds(998), milliseconds(1), minutes(29)]) {
      service.clock.advance(step)
      assertExpiry(service, await call(path), access_token)
    }
    service.clock.advance(seconds(58))
    const last = await call(path)
    assert.equal(last.status, 200)
    assertExpiry(service, last, access_token)
    assert.ok(['0', '1'].includes(String(last.headers['expiration-seconds'])))
  })

  await t.test('R070: responses without an authenticated caller do not carry it', async () => {
    for (const reply of [
      await service.call('/edge/client/v1/current-identity'),
      await service.call('/edge/client/v1/nothing', bearer(access_token)),
      await service.call('/version', bearer(access_token)),
    ]) {
      assert.equal(reply.headers['expiration-seconds'], undefined)
      assert.equal(reply.headers['expires-at'], undefined)
    }
  })
})

test('what callers read about themselves follows the database', async (t) => {
  const service = await startService(t)
  const { access_token } = await logIn(service)
  const identity = () => service.call('/edge/client/v1/current-identity', bearer(access_token))

  await t.test('API 4.1: optional fields are there when they have a value', async () => {
    await sql(
      service,
      `update identities set external_id = 'zoe', role_attributes = '["a"]', tags = '{"floor":3}',
       disabled_at = 1000, disabled_until = 2000`,
    )
    const body = (await identity()).json()
    assert.deepEqual(CurrentIdentityReply.parse(body), body)
    const { externalId, roleAttributes, tags, disabledAt, disabledUntil, disabled } = body.data
    assert.deepEqual(
      { externalId, roleAttributes, tags, disabledAt, disabledUntil, disabled },
      {
        externalId: 'zoe',
        roleAttributes: ['a'],
        tags: { floor: 3 },
        disabledAt: '1970-01-01T00:00:01.000Z',
        disabledUntil: '1970-01-01T00:00:02.000Z',
        disabled: false,
      },
    )
  })

  await t.test(
    'D-35: where the session is gone from the database, its token is invalid',
    async () => {
      await sql(service, 'delete from api_sessions')
      const reply = await service.call('/edge/client/v1/current-api-session', bearer(access_token))
      assert.equal(reply.status, 401)
      assert.equal(reply.headers['www-authenticate'], INVALID)
    },
  )
})
