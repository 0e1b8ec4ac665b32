/**
 * R063: private keys and everything else that is secret are for the service's user; a group may be let in, the world
 * never. D-101.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { copyInstalledHome } from '../support/homes/installed-home.ts'
import { changeConfig } from '../support/process/child-home.ts'
import { startChild } from '../support/process/child-service.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { temporaryFolder } from '../support/service.ts'

const FILES = ['controller.yml', 'secret', 'latchkey.db', 'pki/server.key']

test('R063: a start refuses what the world can get at', async (t) => {
  // Attack: another user of the machine reads the secret, or writes one that he knows.
  const home = join(await temporaryFolder(t), 'a home')
  await copyInstalledHome(home)

  const cases = [
    ...FILES.map((file) => [join(home, file), 0o644, '600'] as const),
    [join(home, 'secret'), 0o602, '600'] as const,
    [home, 0o701, '700'] as const,
    [join(home, 'pki'), 0o755, '700'] as const,
  ]
  for (const [path, mode, remedy] of cases) {
    await t.test(
      `${path.slice(home.length) || 'the home'} with mode ${mode.toString(8)}`,
      async () => {
        await chmod(path, mode)
        const { code, stdout, stderr } = await runLatchkey(t, ['run', '--home', home])
        assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
        const complaint = stderr.trimEnd().split('\n').at(-1) ?? ''
        assert.equal(
          complaint,
          `latchkey: every user of this machine can access ${path}; run: chmod ${remedy} '${path}'`,
        )
        const line = complaint.slice(complaint.indexOf('chmod'))
        execFileSync('sh', ['-c', line])
      },
    )
  }

  await t.test('and starts when every line that it printed has been run', async () => {
    const service = await startChild(t, { home })
    assert.equal((await service.stop()).code, 0)
  })

  await t.test('a group may read all of it', async () => {
    for (const file of FILES) await chmod(join(home, file), 0o640)
    for (const folder of [home, join(home, 'pki')]) await chmod(folder, 0o750)
    const service = await startChild(t, { home })
    assert.equal((await service.stop()).code, 0)
  })
})

test('R063: config check names everything that the world can get at, with the remedy', async (t) => {
  const home = join(await temporaryFolder(t), 'a home')
  await copyInstalledHome(home)
  const check = () => runLatchkey(t, ['config', 'check', '--home', home])
  const complaint = (path: string, remedy: string) =>
    `latchkey: every user of this machine can access ${path}; run: chmod ${remedy} '${path}'`

  for (const file of FILES) await chmod(join(home, file), 0o644)
  for (const folder of [home, join(home, 'pki')]) await chmod(folder, 0o755)
  const { code, stdout, stderr } = await check()
  assert.deepEqual(
    new Set(stderr.trimEnd().split('\n')),
    new Set([
      complaint(home, '700'),
      complaint(join(home, 'pki'), '700'),
      ...FILES.map((file) => complaint(join(home, file), '600')),
    ]),
  )
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })

  for (const [, line = ''] of stderr.matchAll(/; run: (.*)/g)) execFileSync('sh', ['-c', line])
  const fixed = await check()
  assert.deepEqual([fixed.code, fixed.stdout], [0, 'The configuration is valid.\n'], fixed.stderr)

  // A group may read all of it (D-101).
  for (const file of FILES) await chmod(join(home, file), 0o640)
  assert.equal((await check()).code, 0)
})

test('R063: config check looks at the key of a listener that the operator maintains', async (t) => {
  const home = join(await temporaryFolder(t), 'home')
  await copyInstalledHome(home)
  const [cert, key] = [join(home, 'own.pem'), join(home, 'own.key')]
  await copyFile(join(home, 'pki/server.pem'), cert)
  await copyFile(join(home, 'pki/server.key'), key)
  await chmod(key, 0o604)
  await changeConfig(home, (config) => {
    config.identity = { cert, key }
  })
  const { code, stderr } = await runLatchkey(t, ['config', 'check', '--home', home])
  assert.equal(code, 1)
  assert.equal(
    stderr,
    `latchkey: every user of this machine can access ${key}; run: chmod 600 ${key}\n`,
  )
})
