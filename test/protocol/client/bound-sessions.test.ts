/** Sessions of `latchkey/client` whose tokens are bound to a key: RFC 9449; D-454, D-456; docs/client.md. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { minutes } from '../../../src/base/time/duration.ts'
import { Refused, SessionEnded } from '../../../src/client/client.ts'
import {
  asAdmin,
  CURRENT_IDENTITY,
  connectTo,
  failureOf,
  whoIs,
  withPassword,
} from '../../support/client/client-sessions.ts'
import { bearer } from '../../support/login/login.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'

test('sessions that are bound to a key', async (t) => {
  const service = await startService(t)
  const client = await connectTo(service)
  const jktOf = (token: string) => (decodeJwt(token)['cnf'] as { jkt?: string } | undefined)?.jkt

  await t.test('a login binds its tokens by default, and its calls prove the key', async () => {
    const session = await client.logIn(asAdmin)
    assert.ok(jktOf(await session.accessToken()))
    assert.equal(await whoIs(session), ADMIN.username)
    const created = await session.call('/edge/management/v1/identities?limit=1')
    assert.equal(created.status, 200)
  })

  await t.test('the token is refused without the key, and the session goes on', async () => {
    const session = await client.logIn(asAdmin)
    const reply = await service.call(CURRENT_IDENTITY, bearer(await session.accessToken()))
    assert.equal(reply.status, 401)
    assert.equal(await whoIs(session), ADMIN.username)
  })

  await t.test('an old nonce is replaced without the program noticing', async () => {
    const session = await client.logIn(asAdmin)
    assert.equal(await whoIs(session), ADMIN.username)
    service.clock.advance(minutes(5))
    assert.equal(await whoIs(session), ADMIN.username)
  })

  await t.test('a refresh keeps the key', async () => {
    const session = await client.logIn(asAdmin)
    const before = await session.accessToken()
    await session.refresh()
    const after = await session.accessToken()
    assert.notEqual(after, before)
    assert.equal(jktOf(after), jktOf(before))
  })

  await t.test('a saved session has the key, and goes on in another process', async () => {
    const saved = JSON.parse(JSON.stringify((await client.logIn(asAdmin)).save()))
    assert.equal(saved.dpopKey.kty, 'EC')
    const other = await connectTo(service)
    const restored = other.restore(saved)
    assert.equal(await whoIs(restored), ADMIN.username)
    await restored.refresh()
    assert.equal(await whoIs(restored), ADMIN.username)
    for (const dpopKey of ['x', {}, { ...saved.dpopKey, d: undefined }]) {
      assert.throws(() => other.restore({ ...saved, dpopKey } as never), TypeError)
    }
  })

  await t.test('a saved session from before goes on as it is', async () => {
    const saved = (await client.logIn(asAdmin, { dpop: 'never' })).save()
    assert.equal(saved.dpopKey, undefined)
    const restored = client.restore(saved)
    assert.equal(await whoIs(restored), ADMIN.username)
    await restored.refresh()
    assert.equal(jktOf(await restored.accessToken()), undefined)
  })

  await t.test('without its key, a saved session is worth nothing', async () => {
    const { dpopKey: _, ...stolen } = (await client.logIn(asAdmin)).save()
    await failureOf(client.restore(stolen).call(CURRENT_IDENTITY), Refused)
  })

  await t.test(
    'the fields of authorization() are good for one request of another program',
    async () => {
      const session = await client.logIn(asAdmin)
      await whoIs(session)
      const url = `${service.baseUrl}${CURRENT_IDENTITY}`
      const headers = await session.authorization({ method: 'GET', url })
      assert.match(String(headers['authorization']), /^DPoP /)
      assert.equal((await service.call(CURRENT_IDENTITY, { headers })).status, 200)
      assert.equal((await service.call(CURRENT_IDENTITY, { headers })).status, 401)
      const free = await client.logIn(asAdmin, { dpop: 'never' })
      const plain = await free.authorization({ method: 'GET', url })
      assert.deepEqual(Object.keys(plain), ['authorization'])
      assert.equal((await service.call(CURRENT_IDENTITY, { headers: plain })).status, 200)
    },
  )

  await t.test('D-456: a session can be bound only if the policy requires it', async () => {
    const admin = await administrate(service)
    const policy = await admin.createPolicy({ secondary: { requireBoundToken: true } })
    const person = await admin.createIdentity({ policy, password: 'a long enough password' })
    const credential = withPassword({ ...person, password: 'a long enough password' })
    const bound = await client.logIn(credential, { dpop: 'when-required' })
    assert.ok(jktOf(await bound.accessToken()))
    await whoIs(bound)
    const free = await client.logIn(asAdmin, { dpop: 'when-required' })
    assert.equal(jktOf(await free.accessToken()), undefined)
    const refusal = await failureOf(client.logIn(credential, { dpop: 'never' }), Refused)
    assert.equal(refusal.code, 'invalid_dpop_proof')
  })

  await t.test('an ended session is noticed', async () => {
    const session = await client.logIn(asAdmin)
    await (await connectTo(service)).restore(session.save()).logout()
    await failureOf(session.call(CURRENT_IDENTITY), SessionEnded)
  })
})
