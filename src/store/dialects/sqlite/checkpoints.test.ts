/** D-278: checkpoints in a thread. What fails there ends neither the process nor a commit. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Checkpoints } from './checkpoints.ts'

const MANY_COMMITS = 1_000
const ROUNDS = 6

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'latchkey-checkpoints-'))
  t.after(() => rm(path, { recursive: true }))
  return path
}

test('copies the WAL into the database, the last part of it alone', async (t) => {
  const path = join(await folder(t), 'a.db')
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  database.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table a (n)')
  let alone = 0
  const checkpoints = new Checkpoints(path, (work) => {
    alone += 1
    return work()
  })
  checkpoints.considerAfter(MANY_COMMITS)
  checkpoints.considerAfter(2 * MANY_COMMITS)
  await checkpoints.close()
  assert.equal(alone, 1, 'one checkpoint at a time')
  // `log` is what the WAL has, `checkpointed` what of it is in the database.
  const { log, checkpointed } = database.prepare('pragma wal_checkpoint(noop)').get() ?? {}
  assert.ok(Number(log) > 0)
  assert.equal(checkpointed, log)
})

test('few commits need no checkpoint', async (t) => {
  const checkpoints = new Checkpoints(join(await folder(t), 'a.db'), () =>
    assert.fail('there was a checkpoint'),
  )
  checkpoints.considerAfter(10)
  await checkpoints.close()
})

test('a thread that cannot open the database does not end the process', async (t) => {
  const checkpoints = new Checkpoints(join(await folder(t), 'missing', 'a.db'), (work) => work())
  checkpoints.considerAfter(MANY_COMMITS)
  await checkpoints.close()
  checkpoints.considerAfter(2 * MANY_COMMITS)
  await checkpoints.close()
})

/** Another process of the service, which always writes: a little time in a transaction, a little between two. */
const OTHER_WRITER = `
  const { DatabaseSync } = require('node:sqlite')
  const { parentPort, workerData } = require('node:worker_threads')
  const wait = new Int32Array(new SharedArrayBuffer(4))
  const database = new DatabaseSync(workerData.path, { timeout: 5000 })
  database.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0')
  const insert = database.prepare('insert into a values (1)')
  parentPort.postMessage('begun')
  for (;;) {
    database.exec('begin immediate')
    insert.run()
    database.exec('commit')
    Atomics.wait(wait, 0, 0, 0.2)
  }
`

// Otherwise the WAL of several workers grows for as long as all of them write.
test('the WAL starts again at its beginning although another process writes all the time', async (t) => {
  const path = join(await folder(t), 'a.db')
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  database.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table a (n)')
  const writer = new Worker(OTHER_WRITER, { eval: true, workerData: { path } })
  t.after(() => writer.terminate())
  await once(writer, 'message')
  const salts = new Set<string>()
  for (let round = 1; round <= ROUNDS; round++) {
    await pause(20)
    const checkpoints = new Checkpoints(path, (work) => work())
    checkpoints.considerAfter(MANY_COMMITS)
    await checkpoints.close()
    // The next commit begins the WAL anew, with other salts (https://sqlite.org/fileformat2.html#walformat).
    await pause(20)
    salts.add((await readFile(`${path}-wal`)).toString('hex', 16, 24))
  }
  assert.ok(salts.size >= ROUNDS / 2, `${salts.size} of ${ROUNDS}`)
})
