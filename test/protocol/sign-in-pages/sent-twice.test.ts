/** A login form that a browser sends twice, without the script that prevents it: R028, D-344, D-427. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cookieBrowser } from '../../support/browser/cookie-browser.ts'
import { ADMIN, startService } from '../../support/service.ts'

test('R028, D-344: of a form that is sent twice at once, one signs in and the other starts again', async (t) => {
  // With cheap hashing, the first one is done before the second one is read.
  const service = await startService(t, { hashing: 'as shipped' })
  const browser = cookieBrowser(service)
  const { authRequestId } = await browser.begin({ state: 'of the application' })
  const { username, password } = ADMIN
  const form = { authRequestId, username, password }
  const replies = await Promise.all(
    Array.from({ length: 2 }, () => browser.post('/oidc/login/username', form)),
  )
  const [done, late] = replies.toSorted((one, other) => one.status - other.status)
  assert.equal(done?.status, 302)
  assert.equal(late?.status, 400)
  assert.match(late.text, /<h1>This sign-in has ended<\/h1>/)
  const link = /href="([^"]+)">Start again<\/a>/.exec(late.text)?.[1]
  assert.ok(link !== undefined, late.text)
  const again = new URL((await browser.get(link)).headers.location ?? '', service.baseUrl)
  const id = again.searchParams.get('authRequestID') ?? ''
  const answer = await browser.post('/oidc/login/username', { ...form, authRequestId: id })
  const { searchParams } = new URL(answer.headers.location ?? '')
  assert.equal(searchParams.get('state'), 'of the application')
})
