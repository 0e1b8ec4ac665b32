/** docs/testing-clients.md is run: its lines for a shell, its script, and its test for Node. `latchkey fake-server`. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { TESTING_PAGE, withScenarioTable } from '../../scripts/doc-tables.ts'
import { SCENARIO_NAMES } from '../../src/testing/bad-days.ts'
import { readScript } from '../../src/testing/script.ts'
import { guideBlocks, runGuide } from '../support/guides/guide.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { temporaryFolder } from '../support/service.ts'

const PAGE = 'docs/testing-clients.md'

test('the lines of docs/testing-clients.md do what they say', async (t) => {
  const folder = await temporaryFolder(t)
  await runGuide(t, 'docs/testing-clients.md', { environment: { XDG_CONFIG_HOME: folder } })
})

test('the script of docs/testing-clients.md is one', async () => {
  const [script = ''] = await guideBlocks(PAGE, 'json')
  assert.equal(readScript(JSON.parse(script)).length, 3)
})

test('the test of docs/testing-clients.md passes', async (t) => {
  const [example = ''] = await guideBlocks(PAGE, 'ts')
  const at = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href)
  // It runs as a part of this test: its own test is called with our context.
  const text = example
    .replace("'latchkey/client'", at('client/client.ts'))
    .replace("'latchkey/testing'", at('testing/testing.ts'))
    .replace("import { test } from 'node:test'\n", '')
    .replace(/^test\(/m, 'export const run = (test) => test(')
  const path = join(await temporaryFolder(t), 'example.mjs')
  await writeFile(path, text)
  const { run } = await import(pathToFileURL(path).href)
  await run(t.test.bind(t))
})

test('docs/testing-clients.md has the scenarios that there are', async () => {
  const page = await readFile(TESTING_PAGE, 'utf8')
  assert.equal(page, withScenarioTable(page), 'run `npm run docs`')
})

test('the list of scenarios says what a good client does, for people and for programs', async (t) => {
  const shown = await runLatchkey(t, ['fake-server', '--list'])
  assert.equal(shown.code, 0)
  assert.equal(shown.stdout.split('a good client: ').length - 1, SCENARIO_NAMES.length)
  const listed = await runLatchkey(t, ['fake-server', '--list', '--json'])
  const names = JSON.parse(listed.stdout).map(({ name }: { name: string }) => name)
  assert.deepEqual(names, SCENARIO_NAMES)
})

test('a scenario that does not exist is refused, and nothing starts', async (t) => {
  const folder = await temporaryFolder(t)
  const script = join(folder, 'script.json')
  await writeFile(script, '[{"scenario": "cut", "after": "lunch"}]')
  const refused = [
    [['--scenario', 'cut,storm'], /there is no scenario "storm"; --list shows them/],
    [['--script', script], /step 1 of the script: "after" must be/],
    [['--script', join(folder, 'missing')], /cannot be read \(ENOENT\)/],
    [['--script', script, '--now'], /leave out --scenario and --now/],
    [['--port', '0'], /--port must be a number from 1 to 65535/],
  ] as const
  for (const [args, message] of refused) {
    const { code, stdout, stderr } = await runLatchkey(t, ['fake-server', ...args])
    assert.equal(code, 64, stderr)
    assert.equal(stdout, '')
    assert.match(stderr, message)
  }
})
