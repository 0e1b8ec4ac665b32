/**
 * A real browser through a gateway, with password and code: D-410 to D-412. What the page shows, what its scripts get, and
 * how fast the end of the session reaches pages, streams and WebSockets.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { codeField, sendCode, sendPassword } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { startRealEdge } from '../support/edge/real-edge.ts'
import { enrolledPerson, PASSWORD } from '../support/login/authenticator-app.ts'
import { startService } from '../support/service.ts'

/** The application behind the gateway: a page, a stream and whatever a script asks for. */
const APPLICATION = `<!doctype html><title>Application</title><h1>Welcome</h1>
<p id="stream"></p><p id="socket"></p>
<script>
const show = (id) => (text) => { document.getElementById(id).textContent = text }
const events = new EventSource('/events')
events.onmessage = () => show('stream')('open')
events.onerror = () => { events.close(); show('stream')('closed') }
const socket = new WebSocket('wss://' + location.host + '/socket')
socket.onopen = () => show('socket')('open')
socket.onclose = () => show('socket')('closed')
</script>`

test('a browser passes the gateway with password and code, until the session ends', async (t) => {
  const service = await startService(t)
  const edge = await startRealEdge(t, service, {
    upstreams: (to) => [
      to,
      { ...to, name: 'ops', path: '/ops', require: { roles: ['ops'] } },
      // A proof that this user has never given.
      { ...to, name: 'fresh', path: '/fresh', require: { amr: ['swk'] } },
    ],
    upstream: {
      answer(request, response) {
        if (request.url === '/events') {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          response.write('data: 1\n\n')
        } else if (request.url === '/me') {
          response.end(String(request.headers['x-latchkey-session-id']))
        } else {
          response.writeHead(200, { 'content-type': 'text/html' })
          response.end(APPLICATION)
        }
      },
    },
  })
  const person = await enrolledPerson(service, edge.admin)
  const browser = await launchChromium()
  t.after(() => browser.close())
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const page = await context.newPage()
  const text = (id: string, wanted: string) =>
    page.locator(`#${id}`).getByText(wanted, { exact: true }).waitFor()
  const me = () =>
    page.evaluate(async () => {
      const response = await fetch('/me')
      return { status: response.status, text: await response.text() }
    })

  async function signIn(): Promise<void> {
    await sendPassword(page, { username: person.username, password: PASSWORD })
    await codeField(page).waitFor()
    await sendCode(page, person.app.nextCode())
  }

  await t.test('it signs in, and its page, stream, WebSocket and scripts work', async () => {
    await page.goto(`${edge.url}/start?x=1`)
    await page.getByText('You are signing in to').waitFor()
    await signIn()
    await page.getByRole('heading', { name: 'Welcome' }).waitFor()
    assert.equal(page.url(), `${edge.url}/start?x=1`)
    await text('stream', 'open')
    await text('socket', 'open')
    assert.equal((await me()).status, 200)
    const cookies = await context.cookies(edge.url)
    const own = cookies.find(({ name }) => name === '__Host-latchkey-gateway')
    assert.deepEqual([own?.httpOnly, own?.secure, own?.sameSite], [true, true, 'Lax'])
    assert.equal(
      cookies.some(({ name }) => name.includes('login-')),
      false,
    )
  })

  await t.test('the end at the controller closes everything, and a script is told', async () => {
    const { text: sessionId } = await me()
    await edge.admin.act('DELETE', `/api-sessions/${sessionId}`)
    await text('stream', 'closed')
    await text('socket', 'closed')
    assert.equal((await me()).status, 401)
  })

  await t.test('an address that the rules refuse is a readable page', async () => {
    const other = await context.newPage()
    await other.goto(`${edge.url}/ops/`)
    await other.getByLabel('Username').fill(person.username)
    await other.getByLabel('Password').fill(PASSWORD)
    await other.keyboard.press('Enter')
    await codeField(other).waitFor()
    await sendCode(other, person.app.nextCode())
    await other.getByRole('heading', { name: 'You have no access' }).waitFor()
    await other.getByText('Request ID').waitFor()
    await picture(other, 'gateway-no-access')
    await other.goto(`${edge.url}/fresh/`)
    await other.getByRole('heading', { name: 'Sign in again' }).waitFor()
    await picture(other, 'gateway-again')
    await other.getByRole('link', { name: 'Sign in again' }).click()
    await other.getByLabel('Username').waitFor()
    await other.close()
    await context.clearCookies()
  })

  await t.test('it signs in again, and signs out', async () => {
    await page.goto(`${edge.url}/`)
    await signIn()
    await text('socket', 'open')
    const other = await context.newPage()
    await signOut(other)
    await text('socket', 'closed')
    await text('stream', 'closed')
    assert.equal((await me()).status, 401)
    await other.getByRole('link', { name: 'Sign in again' }).click()
    await other.getByLabel('Username').waitFor()
  })

  async function signOut(other: Page): Promise<void> {
    await other.goto(`${edge.url}/.latchkey/sign-out`)
    await other.getByRole('heading', { name: 'Sign out?' }).waitFor()
    await picture(other, 'gateway-sign-out')
    await other.getByRole('button', { name: 'Sign out' }).click()
    await other.getByRole('heading', { name: 'Signed out' }).waitFor()
    await picture(other, 'gateway-signed-out')
  }

  async function picture(shown: Page, name: string): Promise<void> {
    const { TEST_PICTURES: folder } = process.env
    if (folder !== undefined) await shown.screenshot({ path: `${folder}/${name}.png` })
  }
})
