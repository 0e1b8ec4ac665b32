/** A new secret that waits for its place: D-142. Kills at every step are in test/process/secret-rotate.test.ts. */
import assert from 'node:assert/strict'
import fs, { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemRandom } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { INSTALLATION_SECRET_BYTES } from '../../base/secrets/vault.ts'
import { secretFingerprint } from '../../domain/installation/installation.ts'
import { RefusedStart } from './private-files.ts'
import {
  placeWaitingSecret,
  takeUpWaitingSecret,
  waitingSecretFile,
  writeWaitingSecret,
} from './waiting-secret.ts'

const next = new Uint8Array(systemRandom.bytes(INSTALLATION_SECRET_BYTES))
const fingerprint = secretFingerprint(next, systemRandom)
const text = `${Buffer.from(next).toString('base64url')}\n`

/** A home with a secret in use, and another one that waits. */
async function waiting(t: TestContext) {
  const home = await mkdtemp(join(tmpdir(), 'latchkey-secret-'))
  t.after(() => rm(home, { recursive: true }))
  const inUse = join(home, 'secret')
  const old = Buffer.from(systemRandom.bytes(INSTALLATION_SECRET_BYTES)).toString('base64url')
  await writeFile(inUse, old, { mode: 0o600 })
  const where = { home, secret: { kind: 'file', path: inUse } } as const
  const path = waitingSecretFile(where, fingerprint)
  await writeWaitingSecret(where, path, next, systemRandom)
  return { home, where, path, inUse, old }
}

test('R063: it is written with mode 0600, and cannot be read before it is complete', async (t) => {
  const { path, inUse, old } = await waiting(t)
  assert.equal(await readFile(path, 'utf8'), text)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  assert.equal(await readFile(inUse, 'utf8'), old)
})

test('a start takes it up when the database knows it, and only then', async (t) => {
  const { home, where, inUse, old } = await waiting(t)
  const another = secretFingerprint(systemRandom.bytes(32), systemRandom)
  assert.equal(await takeUpWaitingSecret(where, another, systemRandom), undefined)
  assert.equal(await readFile(inUse, 'utf8'), old)
  assert.deepEqual(await takeUpWaitingSecret(where, fingerprint, systemRandom), next)
  assert.equal(await readFile(inUse, 'utf8'), text)
  assert.deepEqual(await readdir(home), ['secret'])
  // Of two starts at once the other finds it in its place.
  assert.deepEqual(await takeUpWaitingSecret(where, fingerprint, systemRandom), next)
})

test('a file with the right name and another secret in it is not taken up', async (t) => {
  // Attack: an attacker who may write in the folder, but does not know the secret, offers one of their own.
  const { where, path, inUse, old } = await waiting(t)
  await writeFile(path, `${Buffer.alloc(32, 1).toString('base64url')}\n`)
  assert.equal(await takeUpWaitingSecret(where, fingerprint, systemRandom), undefined)
  assert.equal(await readFile(inUse, 'utf8'), old)
})

test('does not change a secret that is in a variable', async (t) => {
  const { home, path } = await waiting(t)
  const value = new Secret('not read here')
  const where = { home, secret: { kind: 'environment', variable: 'THE_SECRET', value } } as const
  assert.equal(waitingSecretFile(where, fingerprint), path)
  assert.equal(await takeUpWaitingSecret(where, fingerprint, systemRandom), undefined)
  assert.equal(await readFile(path, 'utf8'), text)
})

test('a secret that is mounted by itself gets another content under the same name', async (t) => {
  const { home, path, inUse } = await waiting(t)
  const { ino } = await stat(inUse)
  const { rename } = fs
  fs.rename = async () => {
    throw Object.assign(new Error('resource busy'), { code: 'EBUSY', syscall: 'rename' })
  }
  syncBuiltinESMExports()
  t.after(() => {
    fs.rename = rename
    syncBuiltinESMExports()
  })
  await placeWaitingSecret(path, inUse)
  assert.equal(await readFile(inUse, 'utf8'), text)
  assert.equal((await stat(inUse)).ino, ino)
  assert.deepEqual(await readdir(home), ['secret'])
})

test('one that cannot be put in its place stays, and the refusal says what to do', async (t) => {
  const { path, inUse } = await waiting(t)
  await rm(inUse)
  await mkdir(join(inUse, 'in the way'), { recursive: true })
  await assert.rejects(placeWaitingSecret(path, inUse), (error) => {
    assert.ok(error instanceof RefusedStart)
    assert.match(error.message, /^the installation secret was replaced, but not in /)
    assert.ok(error.message.endsWith(`; copy ${path} there`))
    return true
  })
  assert.equal(await readFile(path, 'utf8'), text)
})
