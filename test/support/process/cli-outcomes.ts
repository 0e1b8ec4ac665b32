/** What a command of an administrator must end with. */
import assert from 'node:assert/strict'
import type { CommandLine } from './cli-login.ts'

/** It succeeds, prints this, and complains of nothing. Returns what it printed. */
export async function done(
  cli: CommandLine,
  args: readonly string[],
  sentence: RegExp,
): Promise<string> {
  const { code, stdout, stderr } = await cli.run(...args)
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, args.join(' '))
  assert.match(stdout, sentence)
  return stdout
}

/** It ends with this exit code, and says why. */
export async function refused(
  cli: CommandLine,
  args: readonly string[],
  expected: number,
  sentence: RegExp,
): Promise<void> {
  const { code, stderr } = await cli.run(...args)
  assert.match(stderr, sentence, args.join(' '))
  assert.equal(code, expected, args.join(' '))
}
