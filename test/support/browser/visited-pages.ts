/** A list of pages that people meet: how each is reached, and what it is headed. login-pages.ts and account-pages.ts have all. */
import type { BrowserContextOptions, Page, ViewportSize } from 'playwright-core'

export type VisitedPages = Readonly<
  Record<
    string,
    readonly [
      heading: string,
      open: (page: Page) => Promise<void>,
      certificates?: BrowserContextOptions['clientCertificates'],
    ]
  >
>

/** What the tab says of a page: its heading, where it is, and first of all that something went wrong. */
export async function titleWanted(page: Page, heading: string): Promise<string> {
  const isError = (await page.getByRole('alert').count()) > 0
  const isAccount = new URL(page.url()).pathname.startsWith('/account')
  return `${isError ? 'Error: ' : ''}${heading}${isAccount ? ' – Your account' : ''}`
}

/**
 * Resets the page to the state of a new one of this size: no address, no cookies, no listeners, and the looks of the
 * system. A new one with a process of its own would take half the time of a visit.
 */
export async function anew(page: Page, size: ViewportSize): Promise<Page> {
  page.removeAllListeners()
  await page.unrouteAll()
  await page.goto('about:blank')
  await page.context().clearCookies()
  await page.setViewportSize(size)
  await page.emulateMedia({ media: null, colorScheme: null, forcedColors: null })
  return page
}
