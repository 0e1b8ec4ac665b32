/**
 * Which functions that make pages have run, told by the engine itself: so a page that is added and that no test opens is
 * found, and no list has to be kept. The service runs in the process of the test.
 */
import { readdir, readFile } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { basename } from 'node:path'
import type { TestContext } from 'node:test'

const FOLDERS = ['login', 'login/pages', 'account', 'invite', 'device'].map(
  (name) => new URL(`../../../src/web/${name}/`, import.meta.url),
)

/** Not for the pages of a browser: for the API, and for terminals. */
const ELSEWHERE = ['qrCodePng', 'qrCodeLines']

/** From now on. Answers a function for those that have not run, each with its file. */
export async function watchPages(t: TestContext): Promise<() => Promise<readonly string[]>> {
  const session = new Session()
  session.connect()
  t.after(() => session.disconnect())
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const written = (await Promise.all(FOLDERS.map(functionsIn))).flat()

  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const run = new Set(
      result.flatMap(({ url, functions }) =>
        functions
          .filter(({ ranges }) => ranges.some(({ count }) => count > 0))
          .map(({ functionName }) => `${url} ${functionName}`),
      ),
    )
    return written
      .filter(({ url, name }) => !run.has(`${url} ${name}`))
      .map(({ url, name }) => `${name} of ${basename(url)}`)
  }
}

/** By their words, since the engine knows nothing of a function before its first call. */
async function functionsIn(
  folder: URL,
): Promise<readonly { readonly url: string; readonly name: string }[]> {
  const files = (await readdir(folder)).filter((name) => /^[\w-]+\.ts$/.test(name))
  const found = files.map(async (file) => {
    const url = new URL(file, folder)
    const source = await readFile(url, 'utf8')
    return [...source.matchAll(/^ *(?:export )?(?:async )?function (\w+)/gm)]
      .map(([, name = '']) => ({ url: url.href, name }))
      .filter(({ name }) => !ELSEWHERE.includes(name))
  })
  return (await Promise.all(found)).flat()
}
