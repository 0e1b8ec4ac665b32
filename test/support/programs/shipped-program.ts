/**
 * Which program a test starts for a command: the shipped one the first time, in the file that command-rows.ts names for
 * the command, which shows that the command needs nothing of ours and ends by itself; then the bundle, which starts
 * faster. A whole run of the process tests fails for a command whose shipped program it never started (D-259).
 */
import { appendFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { TestContext } from 'node:test'
import { COMMANDS } from '../../../src/cli/table/commands.ts'
import { ROWS } from '../process/command-rows.ts'
import { FAST_PROGRAM, PROGRAM } from '../process/program.ts'

const started = new Set<string>()

/** Whether the command has not run yet as a process, in the file that is to show it. */
export function isFirstRun(t: TestContext, args: readonly string[]): boolean {
  const words = wordsIn(args)
  return !started.has(words) && basename(t.filePath ?? '') === `${ROWS[words]?.done[0]}.test.ts`
}

export function programFor(t: TestContext, args: readonly string[]): string {
  if (!isFirstRun(t, args)) return FAST_PROGRAM
  noteStart(args)
  return PROGRAM
}

/** Records for scripts/test.mjs that the shipped program was started with these arguments. */
function noteStart(args: readonly string[]): void {
  const words = wordsIn(args)
  started.add(words)
  const { LATCHKEY_TEST_STARTED: file } = process.env
  if (file !== undefined) appendFileSync(file, `${words}\n`)
}

/** The words of the command; empty for what is no command. */
export function wordsIn(args: readonly string[]): string {
  const typed = `${args.join(' ')} `
  const matches = COMMANDS.map(({ words }) => words).filter((words) =>
    typed.startsWith(`${words} `),
  )
  return matches.sort((a, b) => b.length - a.length)[0] ?? ''
}
