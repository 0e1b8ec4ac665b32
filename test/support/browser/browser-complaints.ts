/**
 * Everything that a browser has to complain about on the way through our pages: what its console says, and scripts that
 * fail. Two notes are not complaints. The browser notes each page that is answered with 400 or above, and pages that say
 * what went wrong are (D-12, D-18); that note is left out only for the very page that was answered so. And it notes that a
 * field has no autofocus because the test, which is faster than a person, already focused one.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { BrowserContextOptions, ConsoleMessage, Page } from 'playwright-core'
import type { TestBrowser } from './chromium.ts'

const STATUS_NOTE = /^Failed to load resource: the server responded with a status of (\d{3})/

const FOCUS_NOTE =
  /^Autofocus processing was blocked because a document already has a focused element/

/** Grows while the page is used. */
export function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = []
  const refused = new Set<string>()
  const noted = ({ text, url }: { text: string; url: string }) =>
    `${STATUS_NOTE.exec(text)?.[1]} ${url}`
  const written = (message: ConsoleMessage) => ({
    text: message.text(),
    url: message.location().url,
  })

  page.on('console', (message) => {
    const note = written(message)
    if (FOCUS_NOTE.test(note.text)) return
    if (!refused.has(noted(note))) complaints.push(`${note.text} at ${note.url}`)
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('response', (response) => {
    if (response.status() < 400 || !response.request().isNavigationRequest()) return
    refused.add(`${response.status()} ${response.url()}`)
    // The note may have come first.
    const at = complaints.findIndex(
      (text) => STATUS_NOTE.test(text) && text.endsWith(` at ${response.url()}`),
    )
    if (at >= 0) complaints.splice(at, 1)
  })
  return complaints
}

/** Opens a page in a profile of its own. The test fails if the browser has complained by its end. */
export async function quietPage(
  t: TestContext,
  browser: TestBrowser,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options })
  const page = await context.newPage()
  const complaints = complaintsOf(page)
  t.after(async () => {
    await context.close()
    assert.deepEqual(complaints, [])
  })
  return page
}
