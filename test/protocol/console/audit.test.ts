/** The audit log in the console: filters, downloads that no spreadsheet runs, and the stream of changes. D-358, D-360. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cell } from '../../../src/http/console/events/export-events.ts'
import { openConsole } from '../../support/login/account.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { administrate } from '../../support/management.ts'
import { openChangeStream } from '../../support/monitoring/change-stream.ts'
import { startService } from '../../support/service.ts'

test('a cell that a spreadsheet would run as a formula is text', () => {
  // Attack: a user agent or a username that becomes a formula when an administrator opens the file.
  for (const [text, expected] of [
    ['=HYPERLINK("https://evil.example")', `"'=HYPERLINK(""https://evil.example"")"`],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r\n=1', `"'\r\n=1"`],
    ['a,b', '"a,b"'],
    ['plain', 'plain'],
  ] as const) {
    assert.equal(cell(text), expected)
  }
})

test('the audit log in the console', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const { browser, page, send } = await openConsole(service)
  const fail = (username: string, agent = 'test') =>
    service.call(`${CLIENT_API}/authenticate?method=password`, {
      json: { username, password: 'wrong' },
      headers: { 'user-agent': agent },
    })
  await fail('=cmd|calc', '=1+1')

  await t.test('filters by actor, type and time', async () => {
    await admin.createIdentity({ name: 'Carol' })
    assert.match(
      await page('/console/audit?actor=ADM&type=identity'),
      /identity\.created[\s\S]*Carol/,
    )
    assert.match(await page('/console/audit?person=Carol&type=login'), /No event matches/)
    assert.match(await page('/console/audit?until=2001-01-01T00:00'), /No event matches/)
    assert.match(await page('/console/audit?from=nonsense&offset=-1'), /Carol/)
  })

  await t.test('downloads have every event that matches, in both forms', async () => {
    const csv = await browser.get('/console/audit/export.csv?type=login.failed')
    assert.equal(csv.status, 200)
    assert.match(
      csv.headers['content-disposition'] ?? '',
      /^attachment; filename="latchkey-audit\.csv"$/,
    )
    const [head = '', row = ''] = csv.text.split('\r\n')
    assert.match(head, /^at,type,reason,identityName,/)
    assert.match(row, /,login\.failed,unknown-username,/)
    assert.match(row, /,'=1\+1,/)
    const lines = await browser.get('/console/audit/export.jsonl')
    const events = lines.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      events.map(({ id }) => id).toSorted(),
      (await admin.get('/events?limit=500')).map(({ id }: { id: string }) => id).toSorted(),
    )
  })

  await t.test(
    'the stream says that something has happened, and ends with the session',
    async (t) => {
      const none = await service.call('/console/stream', {
        headers: { accept: 'text/event-stream' },
      })
      assert.equal(none.status, 204)
      const { text, until } = await openChangeStream(t, service, browser)
      const change = setInterval(() => void fail(`someone-${text().length}`), 700)
      t.after(() => clearInterval(change))
      await until(/event: change/)
      assert.doesNotMatch(text(), /someone/, 'the stream carries no data')
      await send('/console/audit', '/console/sign-out')
      await until(/event: over/)
    },
  )
})
