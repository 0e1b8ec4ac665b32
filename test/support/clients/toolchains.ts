/**
 * Programs of other toolchains that tests of test/clients need. Where one is missing, the test is skipped with one line.
 * Whatever is built goes into a temporary folder; the caches of the toolchains are where they keep them.
 */
import { execFile, spawn } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Returns the reason to skip, or false. */
export async function missing(
  command: string,
  ...args: readonly string[]
): Promise<string | false> {
  const isThere = await run(command, [...args]).then(
    () => true,
    () => false,
  )
  return isThere ? false : `${command} is not installed`
}

/** Builds the Go program in this folder, and returns its path. */
export async function buildGo(folder: string): Promise<string> {
  const out = join(await mkdtemp(join(tmpdir(), 'latchkey-go-')), 'program')
  await run('go', ['build', '-o', out, '.'], { cwd: folder, maxBuffer: 1 << 24 })
  return out
}

/** Returns a Python that has these packages, kept in the temporary folder for the next run; undefined without pip. */
export async function preparePython(packages: readonly string[]): Promise<string | undefined> {
  const folder = join(tmpdir(), 'latchkey-clients-python')
  const python = join(folder, 'bin', 'python')
  try {
    await run('python3', ['-m', 'venv', folder])
    await run(python, ['-m', 'pip', 'install', '-q', ...packages], { maxBuffer: 1 << 24 })
    return python
  } catch {
    return undefined
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what a program prints
export type Printed = any

/** Runs a program with JSON as its input; returns the last line that it printed, which is JSON. */
export function runWith(
  command: string,
  args: readonly string[],
  input: unknown,
): Promise<{ readonly code: number | null; readonly printed: Printed; readonly log: string }> {
  const child = spawn(command, [...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  child.stdin.end(JSON.stringify(input))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      const last = output.stdout.trim().split('\n').at(-1) ?? ''
      const printed = last.startsWith('{') ? JSON.parse(last) : undefined
      resolve({ code, printed, log: `${output.stdout}\n${output.stderr}` })
    })
  })
}
