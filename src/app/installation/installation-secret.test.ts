import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemRandom } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import type { SecretSource } from '../../config/config.ts'
import { createInstallationSecret, readInstallationSecret } from './installation-secret.ts'
import { RefusedStart } from './private-files.ts'

async function pathFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-secret-'))
  t.after(() => rm(folder, { recursive: true }))
  return join(folder, 'secret')
}

const fromFile = (path: string): SecretSource => ({ kind: 'file', path })
const fromVariable = (value: string): SecretSource => ({
  kind: 'environment',
  variable: 'THE_SECRET',
  value: new Secret(value),
})

test('a made secret has 256 bits, is private, and reads back as itself', async (t) => {
  const path = await pathFor(t)
  const made = await createInstallationSecret(path, systemRandom)
  assert.equal(made.length, 32)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  assert.deepEqual(await readInstallationSecret(fromFile(path)), new Uint8Array(made))
})

test('the faster of two instances makes the secret for both', async (t) => {
  const path = await pathFor(t)
  const both = await Promise.all([
    createInstallationSecret(path, systemRandom),
    createInstallationSecret(path, systemRandom),
  ])
  const kept = Buffer.from((await readFile(path, 'utf8')).trim(), 'base64url')
  for (const secret of both) assert.deepEqual(Buffer.from(secret), kept)
})

test('a missing file is undefined, so that a new installation can make one', async (t) => {
  assert.equal(await readInstallationSecret(fromFile(await pathFor(t))), undefined)
})

test('a variable holds the same text as the file', async (t) => {
  const path = await pathFor(t)
  const made = await createInstallationSecret(path, systemRandom)
  const text = await readFile(path, 'utf8')
  assert.deepEqual(await readInstallationSecret(fromVariable(text)), new Uint8Array(made))
})

test('a text that is not 32 bytes of base64url is refused, and the refusal does not show it', async (t) => {
  const path = await pathFor(t)
  const texts = [
    '',
    '\n',
    'marker',
    'A'.repeat(42),
    'A'.repeat(44),
    `${'A'.repeat(42)}+`,
    `${'A'.repeat(42)}!`,
  ]
  for (const text of texts) {
    await writeFile(path, text, { mode: 0o600 })
    const file = `the installation secret in ${path} is not 32 bytes of base64url`
    await assert.rejects(readInstallationSecret(fromFile(path)), new RefusedStart(file))
    const variable =
      'the installation secret in the environment variable THE_SECRET is not 32 bytes of base64url'
    await assert.rejects(readInstallationSecret(fromVariable(text)), new RefusedStart(variable))
  }
})

test('R063: a secret that the world can read is refused', {
  skip: process.platform === 'win32',
}, async (t) => {
  const path = await pathFor(t)
  await createInstallationSecret(path, systemRandom)
  await chmod(path, 0o644)
  await assert.rejects(readInstallationSecret(fromFile(path)), /chmod 600/)
})
