/** What the command line says about itself: help, completion of shells, exit codes, and the page about all of it. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { COMMANDS } from '../../src/cli/commands.ts'
import { EXIT, EXIT_MEANINGS } from '../../src/cli/io.ts'
import { freshCli } from '../support/cli.ts'

const run = promisify(execFile)
const BASH = '/bin/bash'

test('every command has its words once, a sentence, and an example that begins with it', () => {
  const words = COMMANDS.map((one) => one.words)
  assert.equal(new Set(words).size, words.length)
  for (const { words, what, examples, options } of COMMANDS) {
    assert.doesNotMatch(what, /\.$|^[A-Z]/, words)
    assert.ok(
      examples.some((line) => line.includes(`latchkey ${words}`)),
      words,
    )
    for (const example of examples) {
      for (const [, option = ''] of example.matchAll(/ --([a-z-]+)/g)) {
        assert.ok(Object.hasOwn(options, option), `${words} has no --${option}`)
      }
    }
  }
})

test('--help behind a command tells of that command alone', async (t) => {
  const cli = await freshCli(t)
  const stdout = await cli.succeed(['context', 'use', '--help'])
  assert.equal(
    stdout,
    'Usage: latchkey context use NAME\n\n' +
      'Make another context the current one.\n\n' +
      'Examples:\n  latchkey context use work\n',
  )
  const login = await cli.succeed(['login', '-h'])
  assert.match(login, /^Usage: latchkey login \[options\]\n/)
  assert.match(login, /^ {2}--ca-fingerprint SHA256 {2}\S/m)
})

test('docs/cli.md has every command for people, and every exit code', async () => {
  const page = await readFile(new URL('../../docs/cli.md', import.meta.url), 'utf8')
  for (const { words, audience, options } of COMMANDS) {
    if (audience !== 'person') continue
    assert.ok(page.includes(`latchkey ${words}`), words)
    for (const name of Object.keys(options)) assert.ok(page.includes(`--${name}`), `--${name}`)
  }
  for (const [name, code] of Object.entries(EXIT)) {
    const meaning = EXIT_MEANINGS[name as keyof typeof EXIT]
    assert.ok(page.includes(`| ${code} | ${meaning} |`), `| ${code} | ${meaning} |`)
  }
})

test('completion for a shell that nobody knows is exit code 64', async (t) => {
  const cli = await freshCli(t)
  const { code, stderr } = await cli.run(['completion', 'cmd'])
  assert.equal(code, 64)
  assert.match(stderr, /^latchkey: there is completion for bash, zsh, fish\n/)
})

test('bash completes commands, options and files', {
  skip: !existsSync(BASH) && 'there is no bash here',
}, async (t) => {
  const cli = await freshCli(t)
  const script = join(cli.home, 'completion.bash')
  await writeFile(script, await cli.succeed(['completion', 'bash']))
  await writeFile(join(cli.home, 'ca.pem'), '')

  /** What is offered for the last of the words. */
  async function offered(...words: string[]): Promise<readonly string[]> {
    const line = `source "$0"; COMP_WORDS=(latchkey "$@"); COMP_CWORD=$#; _latchkey; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = await run(BASH, ['-c', line, script, ...words], { cwd: cli.home })
    return stdout.split('\n').filter((word) => word !== '')
  }

  assert.deepEqual(await offered('logi'), ['login'])
  assert.deepEqual(await offered('context', ''), ['list', 'remove', 'use'])
  assert.deepEqual(await offered('keys', 'rot'), ['rotate'])
  assert.deepEqual(await offered('login', '--ca'), ['--ca', '--ca-fingerprint'])
  assert.deepEqual(await offered('login', '--ca', 'ca'), ['ca.pem'])
  assert.deepEqual(await offered('login', '--username', ''), [])
  assert.deepEqual(await offered('completion', 'f'), ['fish'])
  assert.deepEqual(await offered('enroll', 'ca'), ['ca.pem'])
  assert.deepEqual(await offered('whoami', '--'), ['--context', '--json', '--help'])
})

test('the completion of every shell names every command', async (t) => {
  const cli = await freshCli(t)
  for (const shell of ['bash', 'zsh', 'fish']) {
    const script = await cli.succeed(['completion', shell])
    const named = new Set(script.split(/[^\w-]+/))
    for (const { words } of COMMANDS) {
      for (const word of words.split(' ')) assert.ok(named.has(word), `${shell}: ${words}`)
    }
  }
})
