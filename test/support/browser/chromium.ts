/**
 * A real Chromium from npm, on a machine where nothing was installed for it: the package carries the
 * browser, fonts and the system libraries it links to, packed. They are unpacked once per version into the
 * temporary folder and used from there by every later run.
 */
import { execFile } from 'node:child_process'
import { lstat, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { promisify } from 'node:util'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { sqliteStub } from '../stores/sqlite-stub.ts'

/** What tests need of a browser; `Browser` of the library has it too. */
export type TestBrowser = Pick<Browser, 'newContext' | 'newPage' | 'close'>

let running: Promise<Browser> | undefined
after(async () => (await running?.catch(() => undefined))?.close())

/**
 * A headless browser; the caller closes it. All tests of a process share one Chromium, since a start takes longer than
 * most tests. Cookies, storage, cache and certificates belong to a context, and `close` ends the contexts of the caller.
 */
export async function launchChromium(): Promise<TestBrowser> {
  if (running === undefined || !(await running).isConnected()) running = startChromium()
  const browser = await running
  const contexts = new Set<BrowserContext>()
  return {
    async newContext(options) {
      const context = await browser.newContext(options)
      contexts.add(context)
      return context
    },
    async newPage(options) {
      const page = await browser.newPage(options)
      contexts.add(page.context())
      return page
    },
    async close() {
      await Promise.all([...contexts].map((context) => context.close()))
    },
  }
}

/**
 * Arguments that make pages cheaper, and do not change what a page may do.
 * - One process for the pages of a context: a new one for each site takes longer than loading a page.
 * - A page keeps its frame when its document changes: a new frame for each takes a sixth of the CPU time of a visit.
 *   The library would enable the second feature itself, for screenshots, but only the last list counts.
 * - There is no GPU, so no process is started for one.
 * - No optimizing compilers, because a document is gone before they pay off. Bytecode is kept for the next document,
 *   which has the same scripts.
 */
const CHEAPER = [
  '--renderer-process-limit=1',
  '--enable-features=RenderDocument:level/crashed-frame,CDPScreenshotNewSurface',
  '--in-process-gpu',
  '--js-flags=--no-turbofan --no-maglev --no-flush-bytecode',
]

async function startChromium(): Promise<Browser> {
  const folder = await unpackedChromium()
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    // Only what a container needs. The package's own arguments switch web security off, and then a test of
    // CORS or of the content security policy could not fail.
    args: ['--no-sandbox', ...CHEAPER],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
      // The browser makes folders of its own in the home; not in that of whoever runs the tests.
      HOME: folder,
    },
  })
}

const PACKAGE = '@sparticuz/chromium'

async function unpackedChromium(): Promise<string> {
  const folder = join(tmpdir(), `latchkey-chromium-${await packageVersion()}-${userInfo().uid}`)
  if (await isOurs(folder)) return folder

  // The package writes straight into the temporary folder, where a second process would run a browser that
  // is half there. A child with a temporary folder of its own unpacks, and one rename publishes the whole.
  const staging = await mkdtemp(join(tmpdir(), 'latchkey-chromium-unpacking-'))
  try {
    await promisify(execFile)(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `await (await import('${PACKAGE}')).default.executablePath()`,
      ],
      {
        cwd: import.meta.dirname,
        // The package unpacks its system libraries only where it believes to run as a cloud function.
        env: { ...process.env, TMPDIR: staging, AWS_LAMBDA_JS_RUNTIME: 'nodejs24.x' },
      },
    )
    await writeFile(join(staging, 'al2023', 'lib', 'libsqlite3.so.0'), sqliteStub())
    await writeFile(join(staging, 'fonts.conf'), fontConfiguration(folder))
    await rename(staging, folder)
  } catch (error) {
    await rm(staging, { recursive: true, force: true })
    // Another process was faster: its folder is as good as ours.
    if (!(await isOurs(folder))) throw error
  }
  return folder
}

/** False when there is no such folder. A folder that somebody else put there is not run. */
async function isOurs(folder: string): Promise<boolean> {
  const entry = await lstat(folder).catch(() => undefined)
  if (entry === undefined) return false
  if (!entry.isDirectory() || entry.uid !== userInfo().uid) {
    throw new Error(`${folder} belongs to another user; remove it`)
  }
  return true
}

/** Only the fonts of the package, so that pages look the same on every machine. */
function fontConfiguration(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts', 'fonts')}</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
</fontconfig>
`
}

async function packageVersion(): Promise<string> {
  const manifest = new URL('../package.json', import.meta.resolve(PACKAGE))
  return (JSON.parse(await readFile(manifest, 'utf8')) as { version: string }).version
}
