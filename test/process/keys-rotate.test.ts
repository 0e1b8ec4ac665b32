/** `latchkey keys rotate`, beside a running service and without one: D-23. */
import assert from 'node:assert/strict'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runLatchkey, startChild, waitFor } from '../support/child-service.ts'
import { bearer, logIn } from '../support/login.ts'
import { temporaryFolder } from '../support/service.ts'

const environment = { LATCHKEY_ADDRESS: 'localhost:0', LATCHKEY_ADMIN_PASSWORD: 'a long password' }

test('a rotated key is published by a running service before it signs', async (t) => {
  const service = await startChild(t)
  const kids = async () => {
    const { keys } = (await service.call('/oidc/keys')).json()
    return keys.map(({ kid }: { kid: string }) => kid)
  }
  const [first] = await kids()
  const { access_token: token } = await logIn(service)

  const { code, stdout, stderr } = await runLatchkey(t, ['keys', 'rotate', '--home', service.home])
  assert.equal(code, 0, stderr)
  const told =
    /^The signing key (\S+) \(ES256\) is published and signs from (\d{4}-\S+Z)\.\n$/.exec(stdout)
  assert.ok(told, stdout)

  await waitFor(
    async () => (await kids()).includes(told[1]),
    () => 'the new key in the key set',
    service,
  )
  assert.deepEqual(new Set(await kids()), new Set([first, told[1]]))
  // Not yet: who has cached the key set does not know it.
  const later = await logIn(service)
  assert.equal(headerOf(later.access_token).kid, first)
  const reply = await service.call('/edge/client/v1/current-api-session', bearer(token))
  assert.equal(reply.status, 200)
})

function headerOf(token: string): { readonly kid: string } {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())
}

test('where nothing is installed, keys rotate says so and makes nothing', async (t) => {
  const home = join(await temporaryFolder(t), 'home')
  const rotate = () => runLatchkey(t, ['keys', 'rotate', '--home', home])
  const refusal = {
    code: 1,
    signal: null,
    stdout: '',
    stderr: `latchkey: nothing is installed in ${home} yet; run: latchkey init\n`,
  }
  assert.deepEqual(await rotate(), refusal)

  assert.equal((await runLatchkey(t, ['init', '--home', home], { environment })).code, 0)
  await rm(join(home, 'latchkey.db'))
  const before = await readdir(home)
  assert.deepEqual(await rotate(), refusal)
  assert.deepEqual(await readdir(home), before)
})
