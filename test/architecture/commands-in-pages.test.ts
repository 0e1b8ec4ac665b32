/** Commands that pages name in a sentence or a table are no blocks that a test runs; at least they exist, with their options. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { COMMANDS } from '../../src/cli/table/commands.ts'

const EVERYWHERE = ['help', 'version']

test('every command that a page names is there, and has the options', async () => {
  const faults: string[] = []
  for (const page of ['README.md', ...globSync('docs/**/*.md')]) {
    const text = (await readFile(page, 'utf8')).replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
    for (const [, line = ''] of text.matchAll(/`latchkey ((?:[a-z]|--)[^`]*)`/g)) {
      faults.push(...faultsOf(line).map((fault) => `${page}: latchkey ${line}: ${fault}`))
    }
  }
  assert.deepEqual(faults, [])
})

test('rejects an unknown command, and an unknown option', () => {
  assert.deepEqual(faultsOf('list identities --all'), [])
  assert.deepEqual(faultsOf('list horses'), ['list horses'])
  assert.deepEqual(faultsOf('unlock alice --gently'), ['--gently'])
})

/** What is not there. */
function faultsOf(line: string): readonly string[] {
  const own = line.split(/ [|<>] /)[0] ?? ''
  const options = [...own.matchAll(/(?<= |^)--([a-z-]+)/g)].map(([, option = '']) => option)
  const known = commandOf(own)
  const isGroup = COMMANDS.some(({ words }) => words.startsWith(`${own} `))
  if (known === undefined && !isGroup && options.every((option) => !EVERYWHERE.includes(option))) {
    return [own]
  }
  const names = [...Object.keys(known?.options ?? {}), ...EVERYWHERE]
  return options.filter((option) => !names.includes(option)).map((option) => `--${option}`)
}

function commandOf(line: string) {
  const fitting = COMMANDS.filter(({ words }) => `${line} `.startsWith(`${words} `))
  return fitting.toSorted((a, b) => b.words.length - a.words.length)[0]
}
