/** `/health-checks` and `/health-checks/live`, as load balancers and supervisors see them. D-34, D-37, D-137. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { assertRefused } from '../../support/management.ts'
import { logLines } from '../../support/monitoring/log-lines.ts'
import { startMonitored } from '../../support/monitoring/monitoring.ts'
import { startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

/** As pino counts them. */
const DEBUG = 20
const INFO = 30

const CHECKS = ['store', 'ended-sessions', 'rules', 'signing-key', 'serving']

/** Of every kind, none of them good. */
const CREDENTIALS = {
  authorization: 'Bearer nonsense',
  'zt-session': 'nonsense',
  cookie: 'session=nonsense',
}

test('a healthy service says so, check by check', async (t) => {
  const { service, ask } = await startMonitored(t)

  await t.test('in the envelope of the APIs, and not cacheable', async () => {
    const before = service.clock.now()
    const reply = await ask('/health-checks')
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.headers['cache-control'], 'no-store')
    assert.equal(reply.headers['content-type'], 'application/json')
    const { data, meta } = reply.json()
    assert.deepEqual(meta, {})
    assert.deepEqual(Object.keys(data), ['healthy', 'checks'])
    assert.equal(data.healthy, true)
    assert.deepEqual(
      data.checks.map(({ id }: { id: string }) => id),
      CHECKS,
    )
    for (const check of data.checks) {
      assert.deepEqual(Object.keys(check), ['id', 'description', 'healthy', 'lastCheckTime'])
      assert.equal(check.healthy, true, check.id)
      assert.match(check.description, /^[A-Z].*\.$/)
      const at = Date.parse(check.lastCheckTime)
      assert.ok(at >= before - 60_000 && at <= service.clock.now(), check.lastCheckTime)
    }
  })

  await t.test('being alive is another question', async () => {
    const reply = await ask('/health-checks/live')
    assert.equal(reply.status, 200)
    assert.equal(reply.headers['cache-control'], 'no-store')
    assert.deepEqual(reply.json(), { data: { live: true }, meta: {} })
  })

  await t.test('HEAD answers the same without a body', async () => {
    for (const path of ['/health-checks', '/health-checks/live', '/metrics']) {
      const reply = await ask(path, { method: 'HEAD' })
      assert.deepEqual([reply.status, reply.text], [200, ''], path)
    }
  })

  await t.test('R071: credentials make no difference and no challenge', async () => {
    for (const path of ['/health-checks', '/health-checks/live', '/metrics']) {
      const reply = await ask(path, { headers: CREDENTIALS })
      assert.equal(reply.status, 200, path)
      assert.equal(reply.headers['www-authenticate'], undefined, path)
    }
  })

  await t.test('other methods are 405, also with a body', async () => {
    for (const path of ['/health-checks', '/health-checks/live', '/metrics']) {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const reply = await ask(path, { method, json: {} })
        assertRefused(reply, 405, 'METHOD_NOT_ALLOWED')
        assert.equal(reply.headers.allow, 'GET, HEAD', path)
      }
    }
  })

  await t.test('a listener for monitoring has nothing else, not even the version', async () => {
    for (const path of ['/version', '/oidc/keys', '/edge/client/v1/version', '/health-checks/x']) {
      assertRefused(await ask(path), 404, 'NOT_FOUND')
    }
  })

  await t.test(
    'what anonymous callers can read names no version, host, path or secret',
    async () => {
      const { text } = await ask('/health-checks')
      for (const word of ['latchkey', '0.1.0', 'node', 'sqlite', service.home, 'localhost']) {
        assert.equal(text.toLowerCase().includes(word.toLowerCase()), false, word)
      }
    },
  )

  await t.test('a machine that asks every second fills no log', async () => {
    const { headers } = await ask('/health-checks')
    const fits = (line: { requestId?: string }) => line.requestId === headers['x-request-id']
    const [line] = await logLines(service, fits)
    assert.equal(line.level, DEBUG)
    assert.equal(line.route, '/health-checks')
  })
})

test('where health checks and metrics are not bound, they are 404', async (t) => {
  const service = await startService(t)
  for (const path of ['/health-checks', '/health-checks/live', '/metrics']) {
    assertRefused(await service.call(path), 404, 'NOT_FOUND')
  }
})

test('without a usable signing key the answer is 503, and the process is alive all the same', async (t) => {
  const { service, ask } = await startMonitored(t)
  await sql(service, 'delete from signing_keys')
  const reply = await eventually(async () => {
    const reply = await ask('/health-checks')
    return reply.status === 503 ? reply : undefined
  }, 'the 503')
  const { data, error } = reply.json()
  assert.equal(error, undefined)
  assert.equal(data.healthy, false)
  assert.equal(reply.headers['www-authenticate'], undefined)
  assert.deepEqual(data.checks.filter((check: { healthy: boolean }) => !check.healthy).map(idOf), [
    'signing-key',
  ])
  assert.equal((await ask('/health-checks/live')).status, 200)
  const fits = (line: { requestId?: string }) => line.requestId === reply.headers['x-request-id']
  assert.equal((await logLines(service, fits))[0].level, INFO)
})

const idOf = ({ id }: { readonly id: string }) => id
