/** Writes the table to docs/performance.md, between two marks: the words around them are written by hand. */
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { arch, availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { markdownTable, type Row } from './table.ts'

const PAGE = new URL('../../docs/performance.md', import.meta.url)
const BEGIN = '<!-- Written by `npm run bench -- --save`. -->'
const END = '<!-- The end of what it writes. -->'

/** Hardware, versions, date and how busy the machine is now. Ask before the bench itself makes it busy. */
export function describeMachine(): readonly string[] {
  const provider = readJson('../../node_modules/oidc-provider/package.json')
  const own = readJson('../../package.json')
  const gibibytes = (totalmem() / 2 ** 30).toFixed(1)
  return [
    `${new Date().toISOString().slice(0, 10)}: Latchkey ${own.version}, node-oidc-provider ${provider.version}, Node ${process.versions.node}`,
    `${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown CPU'}, ${gibibytes} GiB, Linux ${release()} ${arch()}`,
    `load average before the start: ${loadavg()[0]?.toFixed(1)}`,
  ]
}

/** Returns the path of the page. */
export async function savePage(machine: readonly string[], rows: readonly Row[]): Promise<string> {
  const page = await readFile(PAGE, 'utf8')
  await writeFile(PAGE, replaceTable(page, machine, rows))
  return fileURLToPath(PAGE)
}

/** Throws if the marks are not there. */
export function replaceTable(
  page: string,
  machine: readonly string[],
  rows: readonly Row[],
): string {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin)
    throw new Error(`docs/performance.md has no "${BEGIN}" and "${END}"`)
  const lines = machine.map((line) => `- ${line}`).join('\n')
  const written = `${BEGIN}\n\n${lines}\n\n${markdownTable(rows)}\n\n`
  return page.slice(0, begin) + written + page.slice(end)
}

function readJson(path: string): { readonly version: string } {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
}
