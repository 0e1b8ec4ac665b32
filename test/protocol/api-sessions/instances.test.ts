/**
 * Sessions of one installation on two instances: either lists what the other began, and an end on one is felt at once
 * there and soon on the other. D-34, D-48, R051.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeCsr } from '../../support/certificates/csr.ts'
import { TestClock } from '../../support/clocks/clock.ts'
import {
  issueCertificate,
  type LiveSession,
  requestCertificate,
  SESSIONS,
} from '../../support/edge/live-session.ts'
import { eventually } from '../../support/eventually.ts'
import { INVALID, NO_SUCH_SESSION } from '../../support/login/challenges.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { assertRefreshRefused, refresh } from '../../support/login/refresh.ts'
import { administrate, administratorWith } from '../../support/management.ts'
import type { Service } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'

const IDENTITY = `${CLIENT_API}/current-identity`

async function twoInstances(t: TestContext): Promise<[Service, Service]> {
  const shared = await installation(await migratedDatabase())
  const clock = new TestClock()
  return Promise.all([shared.start(t, { clock }), shared.start(t, { clock })])
}

/** The challenge, once the instance refuses the session. */
const refusedBy = (session: LiveSession, instance: Service) =>
  eventually(async () => {
    const reply = await session.call(IDENTITY, {}, instance)
    return reply.status === 401 ? String(reply.headers['www-authenticate']) : undefined
  }, 'a refusal')

test('D-34, D-48: two instances share their sessions, and notice when they end', async (t) => {
  const [a, b] = await twoInstances(t)
  const admin = await administrate(a)
  const there = administratorWith(b, admin.token)
  const { pem } = await makeCsr()

  await t.test('either lists and reads the sessions of the other', async () => {
    for (const begin of Object.values(SESSIONS)) {
      const { id } = await begin(b)
      assert.equal((await admin.get(`/api-sessions/${id}`)).id, id)
      const listed = await admin.get('/api-sessions?limit=500')
      assert.ok(listed.some((one: { id: string }) => one.id === id))
      assert.deepEqual(
        (await there.get('/api-sessions?limit=500')).map((one: { id: string }) => one.id),
        listed.map((one: { id: string }) => one.id),
      )
    }
  })

  for (const [kind, begin] of Object.entries(SESSIONS)) {
    await t.test(
      `R051: an ${kind} session that one ends is over here at once, there soon`,
      async () => {
        const session = await begin(b)
        await issueCertificate(session, pem, b)
        assert.equal((await session.call(IDENTITY, {}, a)).status, 200)
        await admin.act('DELETE', `/api-sessions/${session.id}`)
        const challenge = kind === 'oidc' ? INVALID : NO_SUCH_SESSION
        const here = await session.call(IDENTITY, {}, a)
        assert.equal(here.headers['www-authenticate'], challenge, 'at once')
        assert.equal(await refusedBy(session, b), challenge)
        if (session.refreshToken !== undefined) {
          assertRefreshRefused(await refresh(b, session.refreshToken))
        }
      },
    )

    await t.test(
      `R099: an ${kind} session that has ended elsewhere gets no certificate, also before that is felt`,
      async () => {
        // The instance may not know of the end yet; the row that it holds for the certificate is gone all the same.
        const session = await begin(b)
        assert.equal((await session.call(IDENTITY, {}, b)).status, 200)
        await admin.act('DELETE', `/api-sessions/${session.id}`)
        const reply = await requestCertificate(session, pem, b)
        assert.equal(reply.status, 401, reply.text)
        const challenge = kind === 'oidc' ? INVALID : NO_SUCH_SESSION
        assert.equal(reply.headers['www-authenticate'], challenge)
      },
    )
  }

  await t.test('R051: all of an identity, and all, end on both', async () => {
    const person = await admin.createIdentity({ password: 'a password of somebody' })
    const mine = [await SESSIONS.oidc(a, person), await SESSIONS.legacy(b, person)]
    const another = await SESSIONS.oidc(b)
    await there.act('DELETE', `/identities/${person.id}/api-sessions`)
    for (const session of mine) {
      for (const instance of [a, b]) await refusedBy(session, instance)
    }
    assert.equal((await another.call(IDENTITY, {}, a)).status, 200)
    await there.act('POST', '/api-sessions/end-all', { confirm: true })
    for (const instance of [a, b]) assert.equal(await refusedBy(another, instance), INVALID)
  })
})
