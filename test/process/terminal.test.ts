/**
 * The service on a terminal: it shows the first password there (D-49), and goes when the terminal is closed.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { shellWord } from '../../src/base/shell-word.ts'
import { type CallOptions, httpClient } from '../support/http-client.ts'
import { beginLogin, submitPassword } from '../support/login/login.ts'
import { waitFor } from '../support/process/child-service.ts'
import { childEnvironment, FAST_PROGRAM } from '../support/process/program.ts'
import { temporaryFolder } from '../support/service.ts'

/** `script` of util-linux gives a command a terminal of its own. */
function hasTerminals(): boolean {
  try {
    return /util-linux/.test(execFileSync('script', ['--version'], { encoding: 'utf8' }))
  } catch {
    return false
  }
}
const skip = !hasTerminals() && 'there is no script(1) of util-linux here'

/** The service on a terminal. When `terminal` is killed, the terminal is closed, like the window of one. */
async function startOnTerminal(t: TestContext, home: string) {
  const pidFile = join(home, '..', 'pid')
  const command = [process.execPath, FAST_PROGRAM, 'run', '--home', home].map(shellWord).join(' ')
  const terminal = spawn(
    'script',
    [
      '--quiet',
      '--return',
      '--command',
      `echo $$ > ${shellWord(pidFile)}; exec ${command}`,
      '/dev/null',
    ],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: childEnvironment({ LATCHKEY_ADDRESS: 'localhost:0', SHELL: '/bin/sh' }),
    },
  )
  let output = ''
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  let pid: number | undefined
  t.after(async () => {
    terminal.kill('SIGKILL')
    if (pid !== undefined && (await isAlive(pid))) process.kill(pid, 'SIGKILL')
  })
  await waitFor(
    () => output.includes('└──'),
    () => `ready: ${output}`,
  )
  pid = Number(await readFile(pidFile, 'utf8'))
  return { terminal, pid, output }
}

async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
    // A process that has ended and that nobody has asked about is still listed.
    return !/^State:\s+Z/m.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))
  } catch {
    return false
  }
}

test('on a terminal, a password that was drawn is printed and no file has it', {
  skip,
}, async (t) => {
  const home = join(await temporaryFolder(t), 'home')
  const { terminal, pid, output } = await startOnTerminal(t, home)
  const password = /│ {2}Username {3}admin +│\s+│ {2}Password {3}(\S+) /.exec(output)?.[1]
  assert.ok(password)
  // D-338: the log is text here, and its last line comes before the links and the password.
  assert.match(output, /^\d\d:\d\d:\d\d\.\d{3} info {2}ready .*\r?\nLatchkey is ready\.\r?\n/m)
  assert.match(output, /^ {2}account {4}https:\/\/localhost:\d+\/account\r?\n/m)
  assert.match(output, /└─+┘\s*$/)
  await waitFor(
    () => !existsSync(join(home, 'admin-password')),
    () => 'the end of the file that had it until it was printed',
  )
  const baseUrl = /base URL +(\S+)/.exec(output)?.[1] ?? ''
  const { call } = httpClient(await readFile(join(home, 'pki', 'ca.pem'), 'utf8'))
  const service = {
    baseUrl,
    call: (path: string, given?: CallOptions) => call(baseUrl + path, given),
  }
  const { authRequestId } = await beginLogin(service)
  const reply = await submitPassword(service, authRequestId, { username: 'admin', password })
  assert.equal(reply.status, 302)
  process.kill(pid, 'SIGINT')
  const [code] = await once(terminal, 'exit')
  assert.equal(code, 0)
})

test('a service whose terminal is closed stops, so that nothing keeps its port', {
  skip,
}, async (t) => {
  const home = join(await temporaryFolder(t), 'home')
  const { terminal, pid } = await startOnTerminal(t, home)
  terminal.kill('SIGKILL')
  await waitFor(
    async () => !(await isAlive(pid)),
    () => 'the end of the service',
  )
})
