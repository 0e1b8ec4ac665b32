/**
 * A temporary home with a `controller.yml` in it, for tests of the configuration.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { readEnvironment } from '../../../src/config/environment.ts'
import { CONFIG_FILE, type LoadedConfig, loadConfig } from '../../../src/config/load.ts'
import { ConfigProblems, type Problem } from '../../../src/config/problems.ts'

/** One bind point, two listeners that do not collide, and the smallest file. */
export const POINT = { interface: '127.0.0.1:1280', address: 'localhost:1280' }
export const LISTENER = { name: 'one', bindPoints: [POINT], apis: [{ binding: 'edge-client' }] }
export const OTHER = {
  name: 'two',
  bindPoints: [{ interface: '127.0.0.1:1281', address: 'localhost:1281' }],
  apis: [{ binding: 'edge-management' }],
}
export const FILE = { v: 1, web: [LISTENER] }

/**
 * With the PEM files `pem/cert.pem`, `key`, `ca` and `public`, all empty. Removed after the test.
 */
export function configHome(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), 'latchkey-home-'))
  t.after(() => rmSync(home, { recursive: true }))
  mkdirSync(join(home, 'pem'))
  for (const name of ['cert', 'key', 'ca', 'public']) {
    writeFileSync(join(home, 'pem', `${name}.pem`), '')
  }
  return home
}

/** `file` is YAML, or a value that is written as JSON, which is YAML too. */
export function loadFile(
  t: TestContext,
  file: unknown,
  variables: Readonly<Record<string, string>> = {},
): Promise<LoadedConfig> {
  const home = configHome(t)
  const text = typeof file === 'string' ? file : JSON.stringify(file)
  writeFileSync(join(home, CONFIG_FILE), text)
  return loadConfig({ home, environment: readEnvironment(variables) })
}

/** Fails the test when the file loads. */
export async function problemsOf(
  ...given: Parameters<typeof loadFile>
): Promise<readonly Problem[]> {
  const outcome = await loadFile(...given).catch((error: unknown) => error)
  assert.ok(outcome instanceof ConfigProblems, inspect(outcome))
  return outcome.problems
}

/** What is wrong, the file, and each of its problems: path and message. */
export type Refusal = readonly [what: string, file: unknown, ...problems: [string, string][]]

/** One test for each. The variables SET and EMPTY are set. */
export function testRefusals(refusals: readonly Refusal[]): void {
  for (const [what, file, ...expected] of refusals) {
    test(`a configuration is refused for ${what}`, async (t) => {
      const problems = await problemsOf(t, file, { SET: 'value', EMPTY: '' })
      assert.deepEqual(
        problems,
        expected.map(([path, message]) => ({ path, message })),
      )
    })
  }
}
