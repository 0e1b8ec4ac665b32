/** Tokens and passwords of enrollments stay secret: R108, R110. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { makeCsr } from '../../support/certificates/csr.ts'
import {
  CLIENT,
  enrollByCsr,
  enrollByPassword,
  inviteNew,
} from '../../support/certificates/enrollment.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

test('R110: a stolen copy of the database yields no usable token', async (t) => {
  // Attack: somebody reads the database and enrolls with what he finds there.
  const service = await startService(t, {
    config: { edge: { limits: { failuresPerAddress: 0 } } },
  })
  const admin = await administrate(service)
  const { token, jwt } = await inviteNew(admin, { ott: true })
  const { pem } = await makeCsr()
  const [row] = await sql(service, 'select * from enrollments')
  assert.ok(row)
  for (const value of Object.values(row).filter((one) => typeof one === 'string')) {
    if (value === '') continue
    for (const tried of [value, `lke_${value}`]) {
      const reply = await enrollByCsr(service, tried, pem)
      assertRefused(reply, 400, 'INVALID_ENROLLMENT_TOKEN')
    }
  }
  assert.ok(service.config.db.kind === 'sqlite')
  const { path } = service.config.db
  const files = await Promise.all(
    ['', '-wal'].map((end) => readFile(`${path}${end}`).catch(() => Buffer.alloc(0))),
  )
  const bytes = Buffer.concat(files)
  assert.ok(bytes.includes('enrollments'))
  for (const secret of [token, token.slice(4), jwt]) assert.ok(!bytes.includes(secret))
  // And it was the right token all the time.
  assert.equal((await enrollByCsr(service, token, pem)).status, 200)
})

test('R108: neither token nor password nor JWT is in a log line, an event or an answer', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const password = 'marker of a password'
  const invited = await inviteNew(admin, { updb: 'marked' })
  const certificate = await inviteNew(admin, { ott: true })
  const refreshed = await admin.call('POST', `/enrollments/${certificate.id}/refresh`)
  const { data } = refreshed.json()
  const { pem } = await makeCsr()
  const replies = [
    // Refused in many ways, then used.
    await enrollByCsr(service, invited.token, pem),
    await enrollByCsr(service, certificate.token, pem),
    await enrollByCsr(service, invited.jwt, pem),
    await enrollByCsr(service, data.token, 'nonsense'),
    await service.call(`${CLIENT}/enroll?token=${data.token}`, { json: { clientCsr: pem } }),
    await enrollByPassword(service, invited.token, { username: password, password }),
    await enrollByPassword(service, invited.token, { username: 'marked', password }),
    await enrollByPassword(service, invited.token, { username: 'marked', password }),
    await enrollByCsr(service, data.token, pem),
    await enrollByCsr(service, data.token, pem),
    await admin.call('GET', `/identities/${invited.identityId}`),
    await admin.call('GET', '/enrollments'),
  ]
  assert.deepEqual(
    replies.map(({ status }) => status),
    [400, 400, 400, 400, 400, 400, 200, 400, 200, 400, 200, 200],
  )
  const events = JSON.stringify(await sql(service, 'select * from events'))
  const log = JSON.stringify(service.log)
  assert.ok(events.includes('enrollment.used') && log.includes('/enroll/ott'))
  const secrets = [invited, certificate, data].flatMap(({ token, jwt }) => [token, jwt])
  for (const secret of [...secrets, password]) {
    for (const text of [events, log, ...replies.map((reply) => reply.text)]) {
      assert.ok(!text.includes(secret), 'a secret is where everybody reads it')
    }
  }
})
