/**
 * The accessibility check axe, put into a page past its content security policy by the protocol of the browser: the page
 * itself stays as it is. WCAG 2.0, 2.1 and 2.2, levels A and AA.
 */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'

const SOURCE = readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

export interface AxeOutcome {
  /** Each with its rule and the elements at fault. */
  readonly violations: readonly string[]
  /** How many rules the page was held against: none would find no fault either. */
  readonly passed: number
}

/**
 * Every document that this page opens from now on can load axe by itself. To send axe into a document takes as long as
 * running it, so this is for a page in which many documents are checked.
 */
export async function bringAxe(page: Page): Promise<void> {
  const value = `value() { ${await SOURCE} }`
  await page.addInitScript(`Object.defineProperty(window, 'loadAxe', { ${value} })`)
}

/** `rules`: these alone. */
export async function checkWithAxe(page: Page, rules: readonly string[] = []): Promise<AxeOutcome> {
  const isThere = await page.evaluate<boolean>(
    "if ('loadAxe' in window && !('axe' in window)) loadAxe(); 'axe' in window",
  )
  if (!isThere) await page.evaluate(await SOURCE)
  const runOnly =
    rules.length === 0 ? { type: 'tag', values: TAGS } : { type: 'rule', values: rules }
  // Of rules that pass only the number counts; no page has frames or media, and all styles are in the page.
  const options = JSON.stringify({
    runOnly,
    resultTypes: ['violations'],
    iframes: false,
    preload: false,
  })
  // Only these few words leave the page: the whole result takes longer to bring here than the check.
  return page.evaluate<AxeOutcome>(`axe.run(document, ${options}).then(({ violations, passes }) => ({
    violations: violations.map(({ id, nodes }) =>
      id + ': ' + nodes.map((node) => node.html + ' ' + node.failureSummary).join('\\n')),
    passed: passes.length,
  }))`)
}
