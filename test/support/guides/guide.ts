/**
 * A page of the documentation is run: its `sh` blocks, in their order, in one shell, as if somebody pasted them. The
 * block that follows one and is marked `http`, `json` or `text` is what the page promises to come out, and is compared
 * (guide-answer.ts). A block marked `sh fails` ends with an error, and the page shows which.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { childEnvironment } from '../process/program.ts'
import { writeCommand } from '../programs/latchkey-command.ts'
import { temporaryFolder } from '../service.ts'
import { type Promised, promiseOf } from './guide-answer.ts'

export interface GuideOptions {
  /** Where the lines are pasted; a new folder without it. */
  readonly cwd?: string
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** What a page says, and what stands here in its place, such as `localhost:1280`. All of it must occur in the page. */
  readonly replace?: Readonly<Record<string, string>>
  /** The blocks that begin like this are not run; why not is the value. All of them must occur in the page. */
  readonly notRun?: Readonly<Record<string, string>>
  readonly shell?: string
  /** What a person types. */
  readonly typed?: string
  /** Lines for the same shell before those of the page: what the pages before it have done. */
  readonly before?: string
}

interface Step {
  readonly script: string
  readonly fails: boolean
  readonly promised: Promised | undefined
  readonly where: string
}

/** Runs a page, compares what it promises, and returns what each block printed. */
export async function runGuide(
  t: TestContext,
  page: string,
  options: GuideOptions = {},
): Promise<readonly string[]> {
  const steps = stepsOf(page, await guideText(page, options), options)
  const outputs = await paste(t, steps, options)
  for (const [index, { promised, where }] of steps.entries()) {
    promised?.compare(outputs[index] ?? '', where)
  }
  return outputs
}

/** The blocks of a page in another language, for what a test runs in another way. */
export async function guideBlocks(page: string, language: string): Promise<readonly string[]> {
  const content = await guideText(page, {})
  const fences = content.matchAll(/^( *)```(\S*).*\n([\s\S]*?)^\1```$/gm)
  return [...fences].flatMap(([, , found, block = '']) => (found === language ? [block] : []))
}

async function guideText(page: string, options: GuideOptions): Promise<string> {
  let content = await readFile(new URL(`../../../${page}`, import.meta.url), 'utf8')
  for (const [said, meant] of Object.entries(options.replace ?? {})) {
    assert.ok(content.includes(said), `${page} says ${said}`)
    content = content.replaceAll(said, meant)
  }
  return content
}

function stepsOf(page: string, content: string, options: GuideOptions): readonly Step[] {
  const { notRun = {} } = options
  const left = new Set(Object.keys(notRun))
  const steps: { -readonly [K in keyof Step]: Step[K] }[] = []
  let before: (typeof steps)[number] | undefined
  for (const match of content.matchAll(/^( *)```(\S*) ?(.*)\n([\s\S]*?)^\1```$/gm)) {
    const [, indent = '', language = '', word, indented = ''] = match
    const block = indented.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    const line = content.slice(0, match.index).split('\n').length
    if (language === 'sh') {
      const reason = Object.keys(notRun).find((beginning) => block.startsWith(beginning))
      if (reason !== undefined) left.delete(reason)
      before = undefined
      if (reason !== undefined) continue
      before = {
        script: block,
        fails: word === 'fails',
        promised: undefined,
        where: `${page}:${line}`,
      }
      steps.push(before)
    } else if (before !== undefined) {
      before.promised = promiseOf(language, block)
      before = undefined
    }
  }
  assert.deepEqual([...left], [], `${page} has the blocks that are not run`)
  assert.ok(steps.length > 0, `${page} has blocks to run`)
  return steps
}

/** A character that no answer has, between what one block prints and what the next one does. */
const BETWEEN = '\u001e'

const PATIENCE_MILLISECONDS = 300_000

async function paste(
  t: TestContext,
  steps: readonly Step[],
  options: GuideOptions,
): Promise<readonly string[]> {
  const folder = await temporaryFolder(t)
  const { cwd = folder, shell = 'sh', environment = {}, before = '' } = options
  const script = steps.map(
    ({ script, fails }) =>
      `printf '\\036'\n${fails ? `set +e\n${script}[ $? -ne 0 ] || exit 99\nset -e` : script}\n`,
  )
  // Files, since Linux lets no other process open a socket, which is what a pipe of Node is (latchkey-command.ts).
  const [typed, printed] = [join(folder, '.typed'), join(folder, '.printed')]
  await writeFile(typed, options.typed ?? '')
  const streams = await Promise.all([open(typed, 'r'), open(printed, 'a')])
  const child = spawn(shell, ['-euc', `exec 2>&1\n${before}\n${script.join('')}`], {
    cwd,
    // With a group of its own: what a page leaves running ends with the test.
    detached: true,
    stdio: [...streams.map(({ fd }) => fd), 'inherit'],
    // A page that waits for something waits for ever when it never comes.
    timeout: PATIENCE_MILLISECONDS,
    killSignal: 'SIGKILL',
    env: childEnvironment({
      HOME: folder,
      ...environment,
      PATH: `${await commandFolder(t, folder)}:${environment.PATH ?? process.env.PATH}`,
    }),
  })
  t.after(() => endGroup(child.pid))
  const [status] = await once(child, 'exit')
  endGroup(child.pid)
  for (const stream of streams) await stream.close()
  const outputs = (await readFile(printed, 'utf8')).split(BETWEEN).slice(1)
  const last = steps[outputs.length - 1]
  const complaint = status === 99 ? 'did not fail' : `ended with ${status}`
  assert.equal(status, 0, `${last?.where} ${complaint}:\n${last?.script}\n${outputs.at(-1)}`)
  return outputs
}

/** A folder with `latchkey`, as people have it who installed it. */
async function commandFolder(t: TestContext, folder: string): Promise<string> {
  const bin = join(folder, '.bin')
  await mkdir(bin)
  await writeCommand(t, join(bin, 'latchkey'))
  return bin
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended.
  }
}
