/** A list of pages that people meet: how each is reached, and what it is headed. login-pages.ts and account-pages.ts have all. */
import type { BrowserContextOptions, Page } from 'playwright-core'

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
