import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemRandom } from '../../base/secrets/random.ts'
import {
  createPrivateFile,
  exists,
  makePrivateFolder,
  RefusedStart,
  readText,
  refuseWorldReadable,
  replacePrivateFile,
} from './private-files.ts'

const random = systemRandom

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-files-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

const modeOf = async (path: string) => (await stat(path)).mode & 0o777

test('a file is made with mode 0600 and its whole text, and nothing else stays behind', async (t) => {
  const folder = await folderFor(t)
  const path = join(folder, 'secret')
  assert.equal(await createPrivateFile(path, 'text\n', { random }), true)
  assert.equal(await readFile(path, 'utf8'), 'text\n')
  assert.equal(await modeOf(path), 0o600)
  assert.deepEqual(await readdir(folder), ['secret'])
})

test('a file that exists is not made again, and keeps its text', async (t) => {
  const folder = await folderFor(t)
  const path = join(folder, 'secret')
  await createPrivateFile(path, 'first', { random })
  assert.equal(await createPrivateFile(path, 'second', { random }), false)
  assert.equal(await readFile(path, 'utf8'), 'first')
  assert.deepEqual(await readdir(folder), ['secret'])
})

test('of twenty processes that create the same file, one succeeds, and all read its text', async (t) => {
  const path = join(await folderFor(t), 'secret')
  const all = Array.from({ length: 20 }, async (_, i) => {
    const text = String(i).repeat(1_000)
    const isMaker = await createPrivateFile(path, text, { random })
    // Read at once, while the others still try.
    return { isMaker, text, read: await readFile(path, 'utf8') }
  })
  const outcomes = await Promise.all(all)
  const makers = outcomes.filter(({ isMaker }) => isMaker)
  assert.equal(makers.length, 1)
  for (const { read } of outcomes) assert.equal(read, makers[0]?.text)
})

test('a replaced file is the old one or the new one at every moment', async (t) => {
  const folder = await folderFor(t)
  const path = join(folder, 'ca.pem')
  const texts = ['a', 'b'].map((letter) => letter.repeat(200_000))
  await replacePrivateFile(path, texts[0] ?? '', { random })
  let isDone = false
  const replacing = (async () => {
    for (let i = 0; i < 20; i++) await replacePrivateFile(path, texts[i % 2] ?? '', { random })
    isDone = true
  })()
  while (!isDone) assert.ok(texts.includes(await readFile(path, 'utf8')))
  await replacing
  assert.equal(await modeOf(path), 0o600)
  assert.deepEqual(await readdir(folder), ['ca.pem'])
})

test('a file that cannot be put in its place leaves nothing behind', async (t) => {
  const folder = await folderFor(t)
  await mkdir(join(folder, 'taken', 'inner'), { recursive: true })
  await assert.rejects(
    replacePrivateFile(join(folder, 'taken'), 'x', { random }),
    (error: NodeJS.ErrnoException) => {
      assert.match(error.message, /EISDIR|ENOTEMPTY/)
      // Not that of the temporary file.
      assert.equal(error.path, join(folder, 'taken'))
      return true
    },
  )
  assert.deepEqual(await readdir(folder), ['taken'])
})

test('a missing file is undefined, and any other trouble is thrown', async (t) => {
  const folder = await folderFor(t)
  assert.equal(await readText(join(folder, 'nothing')), undefined)
  assert.equal(await exists(join(folder, 'nothing')), false)
  await assert.rejects(readText(folder), { code: 'EISDIR' })
  await writeFile(join(folder, 'file'), '')
  await assert.rejects(exists(join(folder, 'file', 'below')), { code: 'ENOTDIR' })
})

test('R063: a file may be read by a group, and neither read nor changed by the world', {
  skip: process.platform === 'win32',
}, async (t) => {
  const path = join(await folderFor(t), 'it is secret')
  await refuseWorldReadable(path)
  await writeFile(path, '')
  for (const mode of [0o400, 0o600, 0o640, 0o660]) {
    await chmod(path, mode)
    await refuseWorldReadable(path)
  }
  for (const mode of [0o604, 0o602, 0o644, 0o666]) {
    await chmod(path, mode)
    await assert.rejects(
      refuseWorldReadable(path),
      new RefusedStart(`every user of this machine can access ${path}; run: chmod 600 '${path}'`),
    )
  }
})

test('R063: a folder is created with mode 0700, parents included, and refused if other users can enter it', {
  skip: process.platform === 'win32',
}, async (t) => {
  const parent = join(await folderFor(t), 'parent')
  const path = join(parent, 'home')
  await makePrivateFolder(path)
  assert.equal(await modeOf(path), 0o700)
  assert.equal(await modeOf(parent), 0o700)
  await chmod(path, 0o770)
  await makePrivateFolder(path)
  for (const mode of [0o701, 0o704, 0o755, 0o777]) {
    await chmod(path, mode)
    await assert.rejects(
      makePrivateFolder(path),
      new RefusedStart(`every user of this machine can access ${path}; run: chmod 700 ${path}`),
    )
  }
})

test('creates a folder with its parents, also for two parallel callers, and fails where no folder can exist', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-folders-'))
  t.after(() => rm(folder, { recursive: true }))
  const deep = join(folder, 'a', 'b', 'c')
  await Promise.all([makePrivateFolder(deep), makePrivateFolder(deep)])
  assert.equal((await stat(deep)).mode & 0o777, 0o700)
  await makePrivateFolder(deep)
  // Node's own `recursive` never returns here.
  await assert.rejects(makePrivateFolder('/proc/latchkey/home'), { code: 'ENOENT' })
  await assert.rejects(makePrivateFolder('/dev/null/home'), { code: 'ENOTDIR' })
})
