/** `latchkey keys rotate`, beside a running service and without one: D-23. */
import assert from 'node:assert/strict'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { copyInstalledHome } from '../support/homes/installed-home.ts'
import { bearer, logIn } from '../support/login/login.ts'
import { waitFor } from '../support/process/child-service.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { startService, temporaryFolder } from '../support/service.ts'

test('a rotated key is published by a running service before it signs', async (t) => {
  const service = await startService(t)
  const kids = async () => {
    const { keys } = (await service.call('/oidc/keys')).json()
    return keys.map(({ kid }: { kid: string }) => kid)
  }
  const [first, firstId] = await kids()
  const { access_token: token } = await logIn(service)

  const { code, stdout, stderr } = await runLatchkey(t, ['keys', 'rotate', '--home', service.home])
  assert.equal(code, 0, stderr)
  const told =
    /^The key (\S+) \(ES256\) for access tokens is published and signs from \d{4}-\S+Z\.\nThe key (\S+) \(RS256\) for ID tokens is published and signs from \d{4}-\S+Z\.\n$/.exec(
      stdout,
    )
  assert.ok(told, stdout)

  await waitFor(
    async () => (await kids()).includes(told[1]),
    () => 'the new key in the key set',
  )
  assert.deepEqual(new Set(await kids()), new Set([first, firstId, told[1], told[2]]))
  // Not yet: who has cached the key set does not know it.
  const later = await logIn(service)
  assert.equal(headerOf(later.access_token).kid, first)
  const reply = await service.call('/edge/client/v1/current-api-session', bearer(token))
  assert.equal(reply.status, 200)
})

function headerOf(token: string): { readonly kid: string } {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())
}

test('D-135: with --revoke-now the new key signs at once, and tokens of the old one are refused', async (t) => {
  // Attack: a copy of the private key is in somebody's hands; whatever it signs must be worth nothing.
  const service = await startService(t)
  const { access_token: old } = await logIn(service)
  const args = ['keys', 'rotate', '--revoke-now', '--home', service.home]
  const { code, stdout, stderr } = await runLatchkey(t, args)
  assert.equal(code, 0, stderr)
  const told =
    /^The key (\S+) \(ES256\) for access tokens signs from now on\.\nThe key (\S+) \(RS256\) for ID tokens signs from now on\.\nAll older keys are withdrawn: /.exec(
      stdout,
    )
  assert.ok(told, stdout)

  const call = (token: string) => service.call('/edge/client/v1/current-api-session', bearer(token))
  await waitFor(
    async () => (await call(old)).status === 401,
    () => 'the end of the old key',
  )
  assert.match((await call(old)).headers['www-authenticate'] ?? '', /error="invalid"/)
  const { keys } = (await service.call('/oidc/keys')).json()
  assert.deepEqual(
    keys.map(({ kid }: { kid: string }) => kid),
    [told[1], told[2]],
  )
  const later = await logIn(service)
  assert.equal(headerOf(later.access_token).kid, told[1])
  assert.equal((await call(later.access_token)).status, 200)
})

test('--revoke-now is for keys rotate alone, and takes no value', async (t) => {
  const home = join(await temporaryFolder(t), 'home')
  for (const [args, sentence] of [
    [['run', '--revoke-now', '--home', home], '"run" takes no --revoke-now'],
    [['keys', 'rotate', '--revoke-now=yes', '--home', home], '--revoke-now takes no value'],
  ] as const) {
    const { code, stderr } = await runLatchkey(t, args)
    assert.equal(code, 64)
    assert.match(stderr, new RegExp(`^latchkey: ${sentence}`))
  }
})

test('where nothing is installed, keys rotate says so and makes nothing', async (t) => {
  const home = join(await temporaryFolder(t), 'home')
  const rotate = () => runLatchkey(t, ['keys', 'rotate', '--home', home])
  const refusal = {
    code: 1,
    signal: null,
    stdout: '',
    stderr: `latchkey: nothing is installed in ${home} yet; run: latchkey init --home ${home}\n`,
  }
  assert.deepEqual(await rotate(), refusal)

  await copyInstalledHome(home)
  await rm(join(home, 'latchkey.db'))
  const before = await readdir(home)
  // D-252: there was an installation here.
  const { code, stdout, stderr } = await rotate()
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
  assert.match(stderr, /^latchkey: the database \S+\/latchkey\.db is missing, but the home /)
  assert.deepEqual(await readdir(home), before)
})
