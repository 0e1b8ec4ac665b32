/**
 * A temporary home with a `controller.yml` in it, for tests of the configuration.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { inspect } from 'node:util'
import { readEnvironment } from '../../src/config/environment.ts'
import { CONFIG_FILE, type LoadedConfig, loadConfig } from '../../src/config/load.ts'
import { ConfigProblems, type Problem } from '../../src/config/problems.ts'

/** With the PEM files `pem/cert.pem`, `key`, `ca` and `public`, all empty. Removed after the test. */
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
