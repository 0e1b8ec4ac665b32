/**
 * Programs of other toolchains that tests of test/clients need. Where one is missing, the test is skipped with one line.
 * Whatever is built goes into a temporary folder; the caches of the toolchains are where they keep them.
 */
import { execFile, spawn } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
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

/** Builds a program of the Go module in this folder, and returns its path. */
export async function buildGo(folder: string, path = '.'): Promise<string> {
  const out = join(await mkdtemp(join(tmpdir(), 'latchkey-go-')), 'program')
  await run('go', ['build', '-o', out, path], { cwd: folder, maxBuffer: 1 << 24 })
  return out
}

/** Builds the Rust program in this folder, and returns its path. What it is built of is kept for the next run. */
export async function buildRust(folder: string): Promise<string> {
  const target = join(tmpdir(), 'latchkey-clients-rust')
  const args = ['build', '--quiet', '--locked', '--target-dir', target]
  await run('cargo', args, { cwd: folder, maxBuffer: 1 << 24 })
  return join(target, 'debug', 'latchkey-test-client')
}

/** Fetches what the `pom.xml` in this folder names, kept for the next run; returns the class path. */
export async function prepareJava(folder: string): Promise<string> {
  const libraries = join(tmpdir(), `latchkey-clients-${basename(folder)}`)
  const args = ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${libraries}`]
  await run('mvn', args, { cwd: folder, maxBuffer: 1 << 24 })
  return join(libraries, '*')
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

interface Ran {
  readonly code: number | null
  readonly printed: Printed
  readonly log: string
}

/**
 * Runs a program with JSON as its input; returns the last line that it printed, which is JSON. With `visit`, for a
 * program that prints `{"url": …}` for a browser first, and then reads the address that the browser came back to.
 */
export function runWith(
  command: string,
  args: readonly string[],
  input: unknown,
  visit?: (url: string) => Promise<string>,
): Promise<Ran> {
  const child = spawn(command, [...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  child.stdin.write(`${JSON.stringify(input)}\n`)
  if (visit === undefined) child.stdin.end()
  return new Promise((resolve, reject) => {
    let isVisited = visit === undefined
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text
        if (isVisited || !output.stdout.includes('\n')) return
        isVisited = true
        const { url } = JSON.parse(output.stdout.split('\n')[0] ?? '')
        visit?.(url).then(
          (back) => child.stdin.end(`${back}\n`),
          (error: unknown) => {
            child.kill('SIGKILL')
            reject(error)
          },
        )
      })
    }
    child.on('error', reject)
    child.on('close', (code) => {
      const last = output.stdout.trim().split('\n').at(-1) ?? ''
      const printed = last.startsWith('{') ? JSON.parse(last) : undefined
      resolve({ code, printed, log: `${output.stdout}\n${output.stderr}` })
    })
  })
}
