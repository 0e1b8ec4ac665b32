/** Signals reach every worker through the supervisor: a drain of all of them, and certificates that are read again. D-288. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectRaw } from '../support/edge/raw-connection.ts'
import { startWorkers } from '../support/kills/workers.ts'
import { beginSlowLogin } from '../support/login/slow-login.ts'
import { isRefused } from '../support/ports.ts'
import { useWorkers } from '../support/process/child-home.ts'
import { spawnLatchkey, waitFor } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { CHEAP_PROGRAM } from '../support/process/program.ts'

/** After the workers have been started, in milliseconds: Node loads, the code loads, they open the database. */
const MOMENTS = [0, 30, 100, 200, 400, 800]

for (const moment of MOMENTS) {
  test(`Ctrl-C in a terminal, ${moment} ms after the workers were started, ends the start with 0`, async (t) => {
    const home = await preparedHome(t)
    await useWorkers(home, 2)
    const child = spawnLatchkey(t, ['run', '--home', home], {
      program: CHEAP_PROGRAM,
      hasOwnGroup: true,
    })
    const { pid = 0 } = child.process
    await waitFor(
      async () => (await childrenOf(pid)).length === 2,
      () => `two workers\n${child.output.stderr}`,
      child,
    )
    await sleep(moment)
    process.kill(-pid, 'SIGINT')
    const { code, signal, stderr } = await child.finished
    assert.deepEqual({ code, signal }, { code: 0, signal: null }, stderr)
    const lines = stderr.trimEnd().split('\n')
    assert.deepEqual(
      lines.filter((line) => !line.startsWith('{')),
      [],
    )
    const messages = lines.map((line) => JSON.parse(line).msg)
    assert.deepEqual(messages.slice(-2), ['stopping', 'stopped'])
  })
}

async function childrenOf(pid: number): Promise<readonly string[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return children.split(' ').filter((one) => one !== '')
}

test('a worker that ends while it is starting ends the start, which says so', async (t) => {
  const home = await preparedHome(t)
  await useWorkers(home, 2)
  const child = spawnLatchkey(t, ['run', '--home', home], { program: CHEAP_PROGRAM })
  const { pid = 0 } = child.process
  await waitFor(
    async () => (await childrenOf(pid)).length === 2,
    () => `two workers\n${child.output.stderr}`,
    child,
  )
  const [worker] = await childrenOf(pid)
  process.kill(Number(worker), 'SIGKILL')
  const { code, stdout, stderr } = await child.finished
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
  assert.match(stderr, /^latchkey: worker [12] ended while it was starting \(SIGKILL\)\n$/m)
  assert.doesNotMatch(stderr, /^ +at /m)
})

test('signals for a service with workers', async (t) => {
  const service = await startWorkers(t, 2)

  await t.test('SIGHUP makes every worker show a new certificate', async () => {
    const files = ['server.pem', 'server.key'].map((name) => join(service.home, 'pki', name))
    const [certificate = ''] = files
    const before = new X509Certificate(await readFile(certificate)).fingerprint256
    for (const file of files) await rm(file)
    service.process.kill('SIGHUP')

    /** The certificate of the next connection, which the next worker gets. */
    const shown = async () => {
      const { socket } = await connectRaw(service)
      const { fingerprint256 } = socket.getPeerCertificate()
      socket.destroy()
      return fingerprint256
    }
    await waitFor(
      async () => {
        const both = [await shown(), await shown()]
        return both[0] !== before && both[1] === both[0]
      },
      () => 'a new certificate from both workers',
      service,
    )
    assert.equal(new X509Certificate(await readFile(certificate)).fingerprint256, await shown())
  })

  await t.test('SIGTERM lets the running requests of every worker finish', async (t) => {
    const logins = [await beginSlowLogin(t, service), await beginSlowLogin(t, service)]
    service.process.kill('SIGTERM')
    await waitFor(
      () => isRefused(service.port),
      () => 'a refused connection',
    )
    assert.equal(service.process.exitCode, null, 'it waits for the requests')
    const requestIds: (string | undefined)[] = []
    for (const { connection, finish } of logins) {
      finish()
      const reply = await connection.reply()
      assert.equal(reply?.status, 302, service.output.stderr)
      requestIds.push(reply.header('x-request-id'))
    }
    assert.equal((await service.finished).code, 0)
    const answered = service.logLines().filter(({ requestId }) => requestIds.includes(requestId))
    assert.deepEqual(answered.map(({ worker }) => worker).sort(), [1, 2])
  })
})
