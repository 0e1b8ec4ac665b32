/**
 * Everything that a browser has to complain about on the way through our pages: what its console says, and scripts that
 * fail. One thing is no complaint: the browser notes each page that is answered with 400 or above, and pages that say what
 * went wrong are (D-12, D-18). That note is left out only for the very page that was answered so.
 */
import type { ConsoleMessage, Page } from 'playwright-core'

const STATUS_NOTE = /^Failed to load resource: the server responded with a status of (\d{3})/

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
