/** A path that cannot be a home: one sentence and exit code 78, and no loop. D-255. */
import assert from 'node:assert/strict'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { spawnLatchkey } from '../support/process/child-service.ts'
import { temporaryFolder } from '../support/service.ts'

/** Without the fix the command never returns; the test must end anyway. */
const limit = { timeout: 300_000 }

test('refuses a home that cannot be created or used with one sentence', limit, async (t) => {
  const folder = await temporaryFolder(t)
  const file = join(folder, 'file')
  await writeFile(file, 'not a folder')
  const dangling = join(folder, 'dangling')
  await symlink(join(folder, 'nowhere', 'at all'), dangling)
  const circle = join(folder, 'circle')
  await symlink(circle, circle)
  const homes: [what: string, home: string, why: string][] = [
    ['in /proc', '/proc/latchkey/home', 'no folder can be created there'],
    ['where no user may write', '/sys/latchkey/home', 'this user may not write there'],
    ['below a device', '/dev/null/home', 'a part of the path is not a folder'],
    ['a file', file, 'a part of the path is not a folder'],
    ['below a file', join(file, 'home'), 'a part of the path is not a folder'],
    ['a dangling link', dangling, 'there is something of this name that is not a folder'],
    ['a circle of links', circle, 'its symbolic links lead in a circle'],
    ['too long a name', join(folder, 'x'.repeat(300)), 'the path is too long'],
  ]
  for (const [what, home, why] of homes) {
    await t.test(what, async (t) => {
      for (const command of what === 'in /proc' ? ['run', 'init'] : ['run']) {
        const child = spawnLatchkey(t, [command, '--home', home])
        const { code, stdout, stderr } = await child.finished
        assert.equal(
          stderr,
          `latchkey: the home ${home} cannot be used: ${why}; name another one with --home\n`,
        )
        assert.equal(code, 78)
        assert.equal(stdout, '')
      }
    })
  }
})

test('commands that need an installation give the same error for such a home', limit, async (t) => {
  for (const command of ['keys rotate', 'config check']) {
    const child = spawnLatchkey(t, [...command.split(' '), '--home', '/dev/null/home'])
    const { code, stderr } = await child.finished
    assert.equal(code, 78)
    assert.match(stderr, /^latchkey: the home \/dev\/null\/home cannot be used: .*\n$/)
  }
})

test('a folder for contexts that cannot be created is one sentence too', limit, async (t) => {
  const file = join(await temporaryFolder(t), 'file')
  await writeFile(file, 'not a folder')
  const folders: [folder: string, why: string][] = [
    ['/proc/latchkey', 'the folder does not exist'],
    [file, 'something that is not a folder is in the way'],
    [join(file, 'below'), 'a part of the path is not a folder'],
  ]
  for (const [folder, why] of folders) {
    const child = spawnLatchkey(t, ['context', 'use', 'work'], {
      environment: { XDG_CONFIG_HOME: folder },
    })
    const { code, stderr } = await child.finished
    assert.equal(stderr, `latchkey: ${folder}/latchkey cannot be written: ${why}\n`)
    assert.equal(code, 1)
  }
})

test(
  'a file that a command stored and cannot read is one sentence, without a system call',
  limit,
  async (t) => {
    const folder = await temporaryFolder(t)
    const list = join(folder, 'latchkey', 'contexts.json')
    await mkdir(list, { recursive: true, mode: 0o700 })
    const listing = spawnLatchkey(t, ['context', 'list'], {
      environment: { XDG_CONFIG_HOME: folder },
    })
    const contexts = await listing.finished
    assert.equal(contexts.stderr, `latchkey: ${list} cannot be read: it is a folder\n`)
    assert.equal(contexts.code, 1)

    const options = ['--controller', 'https://localhost:1', '--listen', 'localhost:0']
    const upstream = ['--upstream', 'http://localhost:1', '--identity', list]
    const gateway = await spawnLatchkey(t, ['gateway', ...options, ...upstream]).finished
    assert.equal(gateway.stderr, `latchkey: ${list} cannot be read: it is a folder\n`)
    assert.equal(gateway.code, 1)
  },
)
