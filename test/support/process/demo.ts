/** `latchkey demo` as a process of its own, and what it prints, taken apart: addresses, passwords, lines to paste. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Child, spawnLatchkey, waitFor } from './child-service.ts'
import type { Finished } from './program.ts'

export interface DemoProcess extends Child {
  readonly serviceUrl: string
  readonly gatewayUrl: string
  readonly echoUrl: string
  readonly idpUrl: string
  readonly folder: string
  readonly ca: string
  passwordOf(name: string): string
  /** The line for a second terminal, before all others. */
  readonly enter: string
  /** And the one that shows everything there. */
  readonly begin: string
  readonly chapters: readonly PrintedChapter[]
  end(signal?: NodeJS.Signals): Promise<Finished>
}

export interface PrintedChapter {
  readonly title: string
  /** As one would paste them. */
  readonly lines: readonly string[]
}

export interface DemoOptions {
  readonly args?: readonly string[]
  /** The temporary folder of the process; what it leaves there can be seen. */
  readonly temporary: string
}

export function spawnDemo(t: TestContext, { args = [], temporary }: DemoOptions): Child {
  return spawnLatchkey(t, ['demo', ...args], { environment: { TMPDIR: temporary } })
}

/** Once it says that it is ready. */
export async function startDemoProcess(t: TestContext, options: DemoOptions): Promise<DemoProcess> {
  const child = spawnDemo(t, options)
  const { output } = child
  await waitFor(
    () => output.stdout.includes('\nCtrl-C here '),
    () => `the last line of the demo\n${output.stdout}\n${output.stderr}`,
    child,
  )
  const printed = (pattern: RegExp): string => {
    const [, found] = pattern.exec(output.stdout) ?? []
    assert.ok(found, `${pattern} in\n${output.stdout}`)
    return found
  }
  const folder = printed(/^ {2}folder +([^ ,]+)/m)
  return {
    ...child,
    serviceUrl: printed(/^ {2}service +(https:\S+)$/m),
    gatewayUrl: printed(/^ {2}gateway +(https:\S+) /m),
    echoUrl: printed(/^ {2}gateway +\S+ → (http:[^ ,]+)/m),
    idpUrl: printed(/^ {2}IdP +(http:[^ ,]+)/m),
    folder,
    ca: await readFile(join(folder, 'ca.pem'), 'utf8'),
    passwordOf: (name) => printed(new RegExp(`^ {2}${name} +password ([a-z2-7-]+)`, 'm')),
    enter: printed(/^ {2}(cd \S+ && \. \.\/env)$/m),
    begin: printed(/^ {2}(cd \S+ && \. \.\/env && .*)$/m),
    chapters: chaptersIn(output.stdout),
    end(signal = 'SIGINT') {
      child.process.kill(signal)
      return child.finished
    },
  }
}

function chaptersIn(stdout: string): readonly PrintedChapter[] {
  const from = stdout.search(/^1\. /m)
  const to = stdout.search(/^And then$/m)
  assert.ok(from >= 0 && to > from, stdout)
  return stdout
    .slice(from, to)
    .split(/^(?=\d+\. )/m)
    .map((text) => {
      const [title = '', ...blocks] = text.trimEnd().split('\n\n')
      return { title: title.replace(/^\d+\. /, ''), lines: blocks.map(lineIn) }
    })
}

/** What stands before the arrow. */
function lineIn(block: string): string {
  const lines = block.split('\n')
  const arrow = lines.findIndex((line) => line.startsWith('    → '))
  assert.ok(arrow > 0, block)
  return lines
    .slice(0, arrow)
    .map((line) => line.replace(/^ {2}/, ''))
    .join('\n')
}
