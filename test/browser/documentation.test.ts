/** The documentation at /docs: how the service answers for it, and what it is like in a browser. D-352, D-353, R022. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { bringAxe, checkWithAxe } from '../support/browser/axe.ts'
import { complaintsOf } from '../support/browser/browser-complaints.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { builtSite } from '../support/documentation/built-site.ts'
import { startService } from '../support/service.ts'

const CSP =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

test('the documentation at /docs', async (t) => {
  await builtSite()
  const service = await startService(t)

  await t.test(
    'answers pages under a strict policy, and not again to a caller that has them',
    async () => {
      const start = await service.call('/docs')
      assert.equal(start.status, 302)
      assert.equal(start.headers.location, '/docs/')
      const page = await service.call('/docs/')
      assert.equal(page.status, 200)
      assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
      assert.equal(page.headers['content-security-policy'], CSP)
      assert.equal(page.headers['x-content-type-options'], 'nosniff')
      assert.equal(page.headers['cache-control'], 'no-cache')
      assert.match(page.text, /<h1[^>]*>Latchkey<\/h1>/)
      const etag = String(page.headers.etag)
      const again = await service.call('/docs/', { headers: { 'if-none-match': etag } })
      assert.deepEqual([again.status, again.text], [304, ''])
      const head = await service.call('/docs/', { method: 'HEAD' })
      assert.deepEqual([head.status, head.headers.etag, head.text], [200, etag, ''])
      for (const [path, type] of [
        ['/docs/cli.html', 'text/html; charset=utf-8'],
        ['/docs/sdk/login.html', 'text/html; charset=utf-8'],
        ['/docs/assets/site.css', 'text/css; charset=utf-8'],
        ['/docs/assets/site.js', 'text/javascript; charset=utf-8'],
        ['/docs/assets/search.json', 'application/json'],
        ['/docs/latchkey.svg', 'image/svg+xml'],
      ] as const) {
        const reply = await service.call(path)
        assert.deepEqual([reply.status, reply.headers['content-type']], [200, type], path)
      }
    },
  )

  await t.test('is compressed for those who accept it', async () => {
    const { headers: plain } = await service.call('/docs/cli.html')
    assert.equal(plain['content-encoding'], undefined)
    for (const coding of ['br', 'gzip']) {
      const headers = { 'accept-encoding': coding }
      const { headers: packed } = await service.call('/docs/cli.html', { headers })
      assert.equal(packed['content-encoding'], coding)
      assert.notEqual(packed.etag, plain.etag)
      assert.ok(Number(packed['content-length']) < Number(plain['content-length']) / 2)
    }
  })

  await t.test('serves the files of the site, and no path that leads out of it', async () => {
    for (const path of [
      '/docs/nothing.html',
      '/docs/built-from',
      '/docs/..%2f..%2fpackage.json',
      '/docs/%2e%2e/package.json',
      '/docs/assets/..%2f..%2f..%2fpackage.json',
      '/docs/assets/%00',
      '/docs/sdk/login.html/more',
      '/docs//etc/passwd',
    ]) {
      const reply = await service.call(path)
      assert.equal(reply.status, 404, path)
      assert.equal(reply.json().error.code, 'NOT_FOUND', path)
    }
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const reply = await service.call('/docs/cli.html', { method })
      assert.equal(reply.status, 405)
      assert.equal(reply.json().error.code, 'METHOD_NOT_ALLOWED')
      assert.equal(reply.headers.allow, 'GET, HEAD')
    }
    // The reference pages of the APIs are elsewhere, and stay.
    assert.equal((await service.call('/edge/management/v1/docs')).status, 200)
  })

  const browser = await launchChromium()
  t.after(() => browser.close())

  async function open(
    t: TestContext,
    path: string,
    options: BrowserContextOptions = {},
  ): Promise<Page> {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options })
    t.after(() => context.close())
    const page = await context.newPage()
    await page.goto(`${service.baseUrl}${path}`)
    return page
  }

  await t.test('finds what a reader types, and leads there with the keyboard', async (t) => {
    const page = await open(t, '/docs/sdk/login.html')
    const complaints = complaintsOf(page)
    await page.keyboard.press('/')
    await page.keyboard.type('lost phone')
    const first = page.locator('#results a').first()
    await first.waitFor()
    assert.match(await first.innerText(), /A user has lost the phone/)
    assert.match(String(await page.locator('#found').textContent()), /^\d+ found\.$/)
    assert.deepEqual((await checkWithAxe(page)).violations, [])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/recipes.html#a-user-has-lost-the-phone')
    // Attack: a link that brings markup into the search. It is text.
    await page.locator('#search').fill('<img src=x onerror=alert(1)>zzzz')
    await page.getByText('Nothing found.').first().waitFor()
    assert.equal(await page.locator('#results img').count(), 0)
    await page.keyboard.press('Escape')
    assert.equal(await page.locator('#results').isVisible(), false)
    assert.deepEqual(complaints, [])
  })

  await t.test('copies a block of code', async (t) => {
    const page = await open(t, '/docs/first-login.html', {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const button = page.locator('.copy').first()
    await button.focus()
    await page.keyboard.press('Enter')
    await page.getByText('Copied').waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    assert.equal(copied, 'npm ci && npm start\n')
  })

  await t.test('is readable in light and dark, on a wide and on a small screen', async (t) => {
    const page = await open(t, '/docs/')
    await bringAxe(page)
    const complaints = complaintsOf(page)
    for (const width of [360, 1400]) {
      await page.setViewportSize({ width, height: 800 })
      for (const path of ['/docs/', '/docs/audit.html', '/docs/contents.html']) {
        // Loaded for each width, which its script uses; only its styles depend on the color scheme.
        await page.goto(`${service.baseUrl}${path}`)
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          const { violations } = await checkWithAxe(page)
          assert.deepEqual(violations, [], `${path} ${colorScheme} ${width}`)
          const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
          assert.ok(wide <= width, `${path} is ${wide} wide on ${width}`)
        }
      }
    }
    assert.deepEqual(complaints, [])
  })

  await t.test('has every page and an index without scripts', async (t) => {
    const page = await open(t, '/docs/', { javaScriptEnabled: false })
    assert.equal(await page.locator('#search').isVisible(), false)
    await page.getByRole('link', { name: 'All pages' }).click()
    await page.getByRole('link', { name: 'A user has lost the phone' }).click()
    await page.waitForURL('**/docs/recipes.html#a-user-has-lost-the-phone')
    assert.equal(await page.locator('h1').innerText(), 'Recipes')
  })
})
