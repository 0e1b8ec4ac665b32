/** D-278: checkpoints in a thread. What fails there ends neither the process nor a commit. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { Checkpoints } from './checkpoints.ts'

const MANY_COMMITS = 1_000

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
