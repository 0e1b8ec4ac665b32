/** Logins that fail: one answer to the caller, the exact reason in the audit log. D-12, D-37, R077; API 4.8. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparable } from '../../support/audit.ts'
import type { Reply } from '../../support/http-client.ts'
import { MISSING } from '../../support/login/challenges.ts'
import { beginLogin, submitPassword } from '../../support/login/login.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const DISABLE = 'update identities set disabled_at = 1'
const ENABLE = 'update identities set disabled_at = null'
/** The built-in policy `production` allows no passwords (API 4.4). */
const usePolicy = (id: string) => `update identities set auth_policy_id = '${id}'`
const lock = (until: string) => `update authenticators set closed_until = ${until}`

/** Every way to fail, and how the world is arranged for it. */
const FAILURES = [
  { reason: 'unknown-username', username: 'nobody', password: ADMIN.password },
  { reason: 'wrong-password', username: ADMIN.username, password: 'wrong horse battery' },
  { reason: 'identity-disabled', ...ADMIN, before: DISABLE, after: ENABLE },
  {
    reason: 'method-not-allowed',
    ...ADMIN,
    before: usePolicy('production'),
    after: usePolicy('default'),
  },
  { reason: 'password-locked', ...ADMIN, before: lock('253402300799999'), after: lock('null') },
] as const

async function fail(service: Service, failure: (typeof FAILURES)[number]): Promise<Reply> {
  const { authRequestId } = await beginLogin(service)
  const { username, password } = failure
  if ('before' in failure) await sql(service, failure.before)
  try {
    return await submitPassword(service, authRequestId, { username, password })
  } finally {
    if ('after' in failure) await sql(service, failure.after)
  }
}

test('logins that fail', async (t) => {
  const service = await startService(t)
  const replies = new Map<string, Reply>()
  for (const failure of FAILURES) replies.set(failure.reason, await fail(service, failure))

  for (const { reason } of FAILURES) {
    await t.test(`R077: ${reason} is answered like every other failed login`, () => {
      // Attack: finding out which names exist, or which are disabled or locked.
      const [reply, other] = [replies.get(reason), replies.get('wrong-password')]
      assert.ok(reply && other)
      assert.equal(reply.status, 401)
      assert.equal(reply.json().error.code, 'INVALID_AUTH')
      assert.deepEqual(comparable(reply), comparable(other))
    })

    await t.test(`API 4.8: the event of the failed login says ${reason}`, async () => {
      const requestId = replies.get(reason)?.headers['x-request-id']
      const [event, ...more] = await sql(
        service,
        `select * from events where request_id = '${requestId}'`,
      )
      assert.deepEqual(more, [])
      assert.equal(event?.['type'], 'login.failed')
      assert.equal(event?.['reason'], reason)
      assert.equal(event?.['address'], '127.0.0.1')
      assert.equal(event?.['session_id'], null)
      const [identity] = await sql(service, "select id from identities where name = 'admin'")
      const isKnown = reason !== 'unknown-username'
      assert.equal(event?.['identity_id'], isKnown ? identity?.['id'] : null)
    })
  }

  await t.test('R077: the same holds for a page in a browser', async () => {
    const pages = new Set<string>()
    for (const failure of FAILURES) {
      const { authRequestId } = await beginLogin(service)
      const { username, password } = failure
      if ('before' in failure) await sql(service, failure.before)
      const reply = await service.call('/oidc/login/username', {
        form: Object.entries({ authRequestId, username, password }),
        headers: { accept: 'text/html' },
      })
      if ('after' in failure) await sql(service, failure.after)
      assert.equal(reply.status, 401)
      assert.match(reply.headers['content-type'] ?? '', /^text\/html/)
      // Each login has a challenge of its own for passkeys.
      const page = reply.text.replace(/challenge&#34;:&#34;[\w-]+/, '')
      pages.add(page.replaceAll(authRequestId, '').replaceAll(username, ''))
    }
    assert.equal(pages.size, 1)
  })

  await t.test(
    'D-37: a failed login carries the pair of challenges for "no supported token"',
    () => {
      const header = replies.get('wrong-password')?.headers['www-authenticate']
      assert.equal(header, MISSING)
    },
  )

  await t.test(
    'R077: a wrong password for a disabled identity is recorded as the wrong password',
    async () => {
      await sql(service, DISABLE)
      const failure = { ...FAILURES[1] }
      const reply = await fail(service, failure)
      await sql(service, ENABLE)
      const requestId = reply.headers['x-request-id']
      const [event] = await sql(
        service,
        `select reason from events where request_id = '${requestId}'`,
      )
      assert.equal(event?.['reason'], 'wrong-password')
    },
  )

  await t.test(
    'an identity that is enabled again logs in, and the success is recorded',
    async () => {
      const { authRequestId } = await beginLogin(service)
      const reply = await submitPassword(service, authRequestId)
      assert.equal(reply.status, 302)
      const requestId = reply.headers['x-request-id']
      const events = await sql(
        service,
        `select type, reason, details from events where request_id = '${requestId}'`,
      )
      assert.equal(events.length, 1)
      assert.equal(events[0]?.['type'], 'login.succeeded')
      assert.equal(events[0]?.['reason'], null)
      assert.equal(JSON.parse(String(events[0]?.['details'])).method, 'password')
    },
  )

  await t.test('API 4.8: no event holds a password', async () => {
    const events = JSON.stringify(await sql(service, 'select * from events'))
    for (const { password } of FAILURES) assert.equal(events.includes(password), false)
  })

  await t.test('D-12: a missing username or password is named, and no failed login', async () => {
    const { authRequestId } = await beginLogin(service)
    const count = async () =>
      sql(service, "select count(*) as n from events where type = 'login.failed'")
    const before = await count()
    for (const [json, field] of [
      [{ authRequestId, password: 'x' }, 'username'],
      [{ authRequestId, username: 'admin' }, 'password'],
      [{ authRequestId, username: '', password: 'x' }, 'username'],
      [{ authRequestId, username: 'admin', password: '' }, 'password'],
      [{ authRequestId, username: 7, password: 'x' }, 'username'],
      [{ authRequestId, username: ['a', 'b'], password: 'x' }, 'username'],
      [{ authRequestId, username: 'x'.repeat(257), password: 'x' }, 'username'],
    ] as const) {
      const reply = await service.call('/oidc/login/username', { json })
      assert.equal(reply.status, 400, reply.text)
      assert.equal(reply.json().error.code, 'COULD_NOT_VALIDATE')
      assert.equal(reply.json().error.cause.field, field)
    }
    assert.deepEqual(await count(), before)
  })

  await t.test('D-4: ignores unknown fields', async () => {
    const { authRequestId } = await beginLogin(service)
    const json = { authRequestId, ...ADMIN, envInfo: { os: 'x' }, sdkInfo: {}, remember: true }
    assert.equal((await service.call('/oidc/login/username', { json })).status, 302)
  })
})
