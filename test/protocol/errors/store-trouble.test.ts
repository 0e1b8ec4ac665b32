/** What callers see while the database fails, and how their own broken connections are distinguished. D-250, D-253. */
import assert from 'node:assert/strict'
import { rename } from 'node:fs/promises'
import { after, test } from 'node:test'
import { connectRaw } from '../../support/edge/raw-connection.ts'
import { eventually } from '../../support/eventually.ts'
import type { Reply } from '../../support/http-client.ts'
import { logIn } from '../../support/login/login.ts'
import { assertRefused } from '../../support/management.ts'
import { startMonitored } from '../../support/monitoring/monitoring.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'
import { startCable } from '../../support/stores/cable.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'

after(async () => (await startPostgres()).stop())

const authenticate = ({ call }: Pick<Service, 'call'>) =>
  call('/edge/client/v1/authenticate?method=password', { json: ADMIN })

const refresh = ({ call }: Pick<Service, 'call'>, refreshToken: string) =>
  call('/oidc/token', {
    form: [
      ['grant_type', 'refresh_token'],
      ['client_id', 'service'],
      ['refresh_token', refreshToken],
    ],
  })

function assertTrouble(reply: Reply): void {
  assertRefused(reply, 503, 'NOT_READY')
  assert.equal(reply.headers['retry-after'], '2')
}

test('answers every caller with 503, never 400 or 500, if connections to the database are reset', async (t) => {
  const cable = await startCable(t, await migratedDatabase())
  const service = await startService(t, { config: { db: cable.url } })
  const { refresh_token: token = '' } = await logIn(service, { scope: 'openid offline_access' })
  cable.pull()

  await t.test('in the envelope of the APIs', async () => {
    assertTrouble(await authenticate(service))
  })

  await t.test('in the words of OAuth', async () => {
    const reply = await refresh(service, token)
    assert.equal(reply.status, 503, reply.text)
    assert.equal(reply.json().error, 'temporarily_unavailable')
    assert.equal(reply.headers['retry-after'], '2')
  })

  await t.test('the log line of the request has the reason, and no response has it', async () => {
    const reply = await authenticate(service)
    const line = await eventually(
      () => service.log.find(({ requestId }) => requestId === reply.headers['x-request-id']),
      'the line of the request',
    )
    assert.equal(line.code, 'NOT_READY')
    assert.match(line.reason, /^cannot use the database 127\.0\.0\.1:\d+\/\w+: /)
    assert.doesNotMatch(reply.text, /127\.0\.0\.1|terminated|ECONN/)
    assert.deepEqual(
      service.log.filter(({ msg }) => msg === 'a request failed unexpectedly'),
      [],
    )
  })

  await t.test('the refresh token was not spent by it', async () => {
    cable.repair()
    const reply = await eventually(async () => {
      const reply = await refresh(service, token)
      return reply.status === 503 ? undefined : reply
    }, 'the database')
    assert.equal(reply.status, 200, reply.text)
  })
})

test('answers 503 if the database file is deleted while the service runs, and writes nothing to it', async (t) => {
  const { service, ask } = await startMonitored(t)
  const { db } = service.config
  assert.ok(db.kind === 'sqlite')
  await rename(db.path, `${db.path}.gone`)

  assertTrouble(await authenticate(service))
  await eventually(async () => {
    const { status } = await ask('/health-checks')
    return status === 503 ? true : undefined
  }, 'the 503 of health checks')
  const line = await eventually(
    () => service.log.find(({ err }) => /was deleted while it was in use/.test(err?.message)),
    'a line in the log',
  )
  assert.ok(line.err.message.includes(db.path))

  await rename(`${db.path}.gone`, db.path)
  await eventually(async () => {
    const { status } = await ask('/health-checks')
    return status === 200 ? true : undefined
  }, 'the 200 of health checks')
  assert.equal((await authenticate(service)).status, 200)
})

test('a caller that hangs up in the middle of a body is not an error of the service', async (t) => {
  const service = await startService(t)
  const { socket, send } = await connectRaw(service)
  const { host } = new URL(service.baseUrl)
  const path = '/edge/client/v1/authenticate?method=password'
  send(
    `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
  )
  // Its header must have been read; otherwise there is no request yet.
  assert.equal((await service.call('/version')).status, 200)
  socket.destroy()
  await eventually(
    () => service.log.find(({ msg, code }) => msg === 'request' && code === 'BAD_REQUEST'),
    'the line of the connection',
  )
  await service.stop()
  assert.deepEqual(
    service.log.filter(({ msg }) => msg === 'a request failed unexpectedly'),
    [],
  )
})
