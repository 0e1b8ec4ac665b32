/** What the command line says about itself: help, completion of shells, exit codes, and the page about all of it. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { shellWord } from '../../src/base/shell-word.ts'
import { COMMANDS } from '../../src/cli/table/commands.ts'
import { EXIT, EXIT_MEANINGS } from '../../src/cli/terminal/io.ts'
import { freshCli, openTerminal } from '../support/process/cli.ts'
import { childEnvironment, FAST_PROGRAM } from '../support/process/program.ts'

const run = promisify(execFile)

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
      'Switch to another context.\n\n' +
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

test('completion for an unknown shell is exit code 64', async (t) => {
  const cli = await freshCli(t)
  const { code, stderr } = await cli.run(['completion', 'cmd'])
  assert.equal(code, 64)
  assert.match(stderr, /^latchkey: completion is available for bash, zsh, fish\n/)
})

/** What each shell completes: the line, and what is offered for its last word. */
const OFFERED: Readonly<Record<string, readonly string[]>> = {
  logi: ['login'],
  'context ': ['list', 'remove', 'use'],
  'keys rot': ['rotate'],
  'list id': ['identities'],
  'get pol': ['policy'],
  'login --ca-': ['--ca-fingerprint'],
  'login --ca ca': ['ca.pem'],
  'login --username ': [],
  'completion f': ['fish'],
  'enroll ca': ['ca.pem'],
  'whoami --': ['--context', '--help', '--json'],
  // The same option, and other values.
  'create enrollment --method u': ['updb'],
  're-enroll laptop-7 --method p': ['password'],
  'whoami --context ': ['default', 'work'],
  'context use w': ['work'],
  'context remove ': ['--help', 'default', 'work'],
  'context remove work ': ['--help'],
  // Names from the server (D-354).
  'get identity bo': ['bob'],
  'describe identity bob --': ['--context', '--help', '--json'],
  'events --identity bo': ['bob'],
  'update identity bob --policy st': ['strict'],
  'delete policy strict la': ['lax'],
  'get signer zz': [],
}

/** What the server has, and what each shell writes into the line: names of others run nothing in it. */
const NAMES = {
  identity: ['ann smith', 'ann$(touch pwned)', "ann'`id`", 'bob', 'eve@example.com', 'job:build'],
  policy: ['lax', 'strict'],
}

/** A home with two contexts, the script of a shell, and a `latchkey` that shows what it is called with. */
async function shellHome(t: TestContext, shell: string) {
  const cli = await freshCli(t)
  const script = join(cli.home, `completion.${shell}`)
  await writeFile(script, await cli.succeed(['completion', shell]))
  await writeFile(join(cli.home, 'ca.pem'), '')
  const folder = join(cli.configFolder, 'latchkey')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const url = 'https://auth.example.com'
  const contexts = { current: 'work', contexts: { default: { url }, work: { url } } }
  await writeFile(join(folder, 'contexts.json'), JSON.stringify(contexts))
  const program = [process.execPath, FAST_PROGRAM].map(shellWord).join(' ')
  const stub = `#!/bin/sh
case "$*" in
"context list"*) exec ${program} "$@" ;;
"completion names identity"*) printf '%s\\n' ${NAMES.identity.map(shellWord).join(' ')}; exit ;;
"completion names policy"*) printf '%s\\n' ${NAMES.policy.join(' ')}; exit ;;
"completion names"*) exit ;;
esac
printf 'CALLED[%s]\\n' "$*"
`
  await writeFile(join(cli.home, 'latchkey'), stub, { mode: 0o755 })
  const environment = childEnvironment({
    HOME: cli.home,
    XDG_CONFIG_HOME: cli.configFolder,
    PATH: `${cli.home}:${process.env['PATH']}`,
  })
  return { home: cli.home, script, environment }
}

function pathOfShell(name: string): string | undefined {
  const folders = ['/bin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

const BASH = pathOfShell('bash')
const ZSH = pathOfShell('zsh')
const FISH = pathOfShell('fish')

test('bash completes commands, options, files and contexts', {
  skip: BASH === undefined && 'there is no bash here',
}, async (t) => {
  const { home, script, environment } = await shellHome(t, 'bash')
  const line = `source "$0"; COMP_WORDS=(latchkey "$@"); COMP_CWORD=$#; COMP_LINE="latchkey $*"; _latchkey latchkey "\${!#}"; printf '%s\\n' "\${COMPREPLY[@]}"`
  for (const [typed, offered] of Object.entries(OFFERED)) {
    const words = ['-c', line, script, ...typed.split(' ')]
    const { stdout } = await run(BASH ?? '', words, { cwd: home, env: environment })
    assert.deepEqual(linesOf(stdout).sort(), offered, typed)
  }

  // Attack: a user is called like a command, and an administrator presses Tab.
  const words = ['-c', line, script, 'get', 'identity', 'ann']
  const { stdout } = await run(BASH ?? '', words, { cwd: home, env: environment })
  const read = `printf '%s\\n' ${linesOf(stdout).join(' ')}`
  const pasted = await run(BASH ?? '', ['-c', read], { cwd: home, env: environment })
  assert.deepEqual(linesOf(pasted.stdout), NAMES.identity.slice(0, 3))
  assert.ok(!existsSync(join(home, 'pwned')))
})

test('bash completes words with the characters at which it splits words', {
  skip: BASH === undefined && 'there is no bash here',
}, async (t) => {
  const { home, script, environment } = await shellHome(t, 'bash')
  const inputrc = join(home, 'inputrc')
  await writeFile(inputrc, 'set enable-bracketed-paste off\n')
  const terminal = openTerminal(t, [BASH ?? '', '--norc', '--noprofile', '-i'], {
    columns: 200,
    cwd: home,
    environment: { ...environment, PS1: 'READY>', INPUTRC: inputrc },
  })
  await terminal.sees('READY>')
  terminal.types(`source ${script} && echo SOURCED`)
  await terminal.sees('\nSOURCED')
  const cases: readonly (readonly [typed: string, called: string])[] = [
    ['get identity ev', 'get identity eve@example.com'],
    ['get identity eve@', 'get identity eve@example.com'],
    ['get identity eve@ex', 'get identity eve@example.com'],
    ['get identity job:', 'get identity job:build'],
    ['get identity job:bu', 'get identity job:build'],
    ['delete identity eve@example.com job:b', 'delete identity eve@example.com job:build'],
    ['get identity eve@example.com --con', 'get identity eve@example.com --context'],
    ['events --identity eve@e', 'events --identity eve@example.com'],
    ['events --identity=eve@e', 'events --identity=eve@example.com'],
    ['whoami --context=wo', 'whoami --context=work'],
    ['login --url https://a.example:1280 --us', 'login --url https://a.example:1280 --username'],
  ]
  for (const [typed, called] of cases) {
    await terminal.sees('READY>')
    terminal.presses(`latchkey ${typed}\t\r`)
    await terminal.sees(`\nCALLED[${called}]`)
  }
})

test('fish completes commands, options, files and contexts', {
  skip: FISH === undefined && 'there is no fish here',
}, async (t) => {
  const { home, script, environment } = await shellHome(t, 'fish')
  const lines = Object.keys(OFFERED).map(
    (typed) => `complete -C ${shellWord(`latchkey ${typed}`)}; echo END`,
  )
  const words = ['--no-config', '-c', [`source ${shellWord(script)}`, ...lines].join('\n')]
  const { stdout } = await run(FISH ?? '', words, { cwd: home, env: environment })
  const answers = stdout.split('END\n').map((answer) =>
    // Behind a tab: what it does.
    linesOf(answer).map((one) => one.split('\t')[0] ?? ''),
  )
  for (const [at, [typed, offered]] of Object.entries(OFFERED).entries()) {
    // Fish offers options only where one has been begun.
    const expected = typed.endsWith(' ') ? offered.filter((one) => !one.startsWith('-')) : offered
    assert.deepEqual([...(answers[at] ?? [])].sort(), expected, typed)
  }
})

test('zsh completes commands, options, files and contexts', {
  skip: ZSH === undefined && 'there is no zsh here',
}, async (t) => {
  const { home, script, environment } = await shellHome(t, 'zsh')
  const terminal = openTerminal(t, [ZSH ?? '', '-f', '-i'], {
    columns: 200,
    cwd: home,
    environment: { ...environment, PS1: 'READY>' },
  })
  await terminal.sees('READY>')
  terminal.types(`autoload -Uz compinit && compinit -u -D && source ${script} && echo SOURCED`)
  await terminal.sees('\nSOURCED')
  for (const [typed, [only = '', ...others]] of Object.entries(OFFERED)) {
    if (only === '' || others.length > 0) continue
    await terminal.sees('READY>')
    // A tab completes what there is one of; Enter runs what stands there then.
    terminal.presses(`latchkey ${typed}\t\r`)
    const [, before = ''] = /^(.* )?\S*$/.exec(typed) ?? []
    await terminal.sees(`\nCALLED[${before}${only}]`)
  }
  for (const [typed, called] of [
    ['get identity ann\\$', 'get identity ann$(touch pwned)'],
    ['get identity job:bu', 'get identity job:build'],
    ['events --identity=eve@e', 'events --identity=eve@example.com'],
    ['events --identity=ann\\ ', 'events --identity=ann smith'],
    ['create enrollment --method=u', 'create enrollment --method=updb'],
    ['whoami --context=wo', 'whoami --context=work'],
  ]) {
    await terminal.sees('READY>')
    terminal.presses(`latchkey ${typed}\t\r`)
    await terminal.sees(`\nCALLED[${called}]`)
  }
  assert.ok(!existsSync(join(home, 'pwned')))
})

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')

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
