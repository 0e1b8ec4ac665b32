/**
 * A browser application on an origin of its own, with the library oidc-client-ts: its page, its script and the
 * library's bundle, as any web server would serve them. It is told where the service is once that is known.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { html } from '../../../src/web/login/html.ts'
import { listenAs, type SiteHost } from './site.ts'

export interface BrowserApp {
  readonly origin: string
  /** The base URL of the service; before anything is opened. */
  use(baseUrl: string): void
}

/** What the library knows about who is signed in. */
export interface SignedIn {
  readonly access_token: string
  readonly refresh_token: string
  readonly id_token: string
  readonly expires_at: number
  readonly profile: Readonly<Record<string, unknown>>
}

const LIBRARY = new URL(
  'dist/browser/oidc-client-ts.js',
  import.meta.resolve('oidc-client-ts/package.json'),
)
const SCRIPT = new URL('browser-app/app.js', import.meta.url)

/** It ends with the test. */
export async function startBrowserApp(t: TestContext, host: SiteHost): Promise<BrowserApp> {
  const scripts = new Map([
    ['/oidc-client-ts.js', await readFile(LIBRARY)],
    ['/app.js', await readFile(SCRIPT)],
  ])
  let baseUrl = ''
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://app.invalid')
    const script = scripts.get(pathname)
    const type = script === undefined ? 'text/html' : 'text/javascript'
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8` })
    response.end(script ?? pageFor(baseUrl))
  })
  const port = await listenAs(t, server, host)
  return {
    origin: `http://${host}:${port}`,
    use(url) {
      baseUrl = url
    },
  }
}

/** Waits until the application has settled; who is signed in by then, as it says itself. */
export async function settled(page: Page): Promise<string> {
  const state = page.locator('#state:not(:empty)')
  await state.waitFor()
  return (await state.textContent()) ?? ''
}

export async function signedIn(page: Page): Promise<SignedIn> {
  await settled(page)
  const text = await page.locator('#user').textContent()
  assert.ok(text, `nobody is signed in: ${await page.locator('#error').textContent()}`)
  return JSON.parse(text)
}

function pageFor(baseUrl: string): string {
  return html`<!doctype html>
<html lang="en">
<title>An application</title>
<link rel="icon" href="data:,">
<body data-authority="${baseUrl}/oidc" data-api="${baseUrl}">
<button id="sign-in">Sign in</button>
<button id="refresh">Refresh</button>
<button id="call">Call</button>
<button id="sign-out">Sign out</button>
<p id="state"></p>
<p id="error" role="alert"></p>
<pre id="user"></pre>
<pre id="answer"></pre>
<script src="/oidc-client-ts.js"></script>
<script src="/app.js"></script>
</body>
</html>`.toString()
}
