/** The command that tests start as a process, and what its process gets. */
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

/** The command as it is shipped. */
export const PROGRAM = fileURLToPath(new URL('../../../bin/latchkey.js', import.meta.url))

/** Where scripts/test-programs.mjs has put bundles, in which the same code starts faster (D-259). */
const { LATCHKEY_TEST_PROGRAMS: bundles } = process.env

/** The same command, for tests of what it does rather than of how it starts. A file that runs by itself has no bundle. */
export const FAST_PROGRAM = bundles === undefined ? PROGRAM : join(bundles, 'latchkey.js')

/** The same with cheap password hashing. */
export const CHEAP_PROGRAM =
  bundles === undefined
    ? fileURLToPath(new URL('./cheap-latchkey.ts', import.meta.url))
    : join(bundles, 'cheap-latchkey.js')

/**
 * The arguments of Node that run the program. A bundle gets room for new objects, as do its workers, which inherit the
 * option: collecting garbage takes a fifth of a start otherwise. The shipped program runs with the defaults of Node.
 */
export function programArguments(program: string): readonly string[] {
  const isBundle = bundles !== undefined && dirname(program) === bundles
  return isBundle ? ['--min-semi-space-size=64', '--max-semi-space-size=64', program] : [program]
}

export interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Collects what a process prints, and how it ends. */
export function collect(child: ChildProcessByStdio<Writable | null, Readable, Readable>) {
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  const finished = once(child, 'close').then(
    ([code, signal]): Finished => ({ code, signal, ...output }),
  )
  return { output, finished }
}

/** Holds nothing of ours but what the test gives. */
export function childEnvironment(
  own: Readonly<Record<string, string | undefined>> = {},
): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG']
  return { ...Object.fromEntries(kept.map((name) => [name, process.env[name]])), ...own }
}
