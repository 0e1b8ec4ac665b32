/**
 * Every verb for every entity that has it, on the command line, and the commonest mistake of each verb: what
 * cli-admin.test.ts has not got.
 */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { administrate, logInAs } from '../support/management.ts'
import { commandLineOf } from '../support/process/cli-login.ts'
import { startService } from '../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())

test('every entity on the command line', async (t) => {
  const service = await startService(t)
  const cli = await commandLineOf(t, service)
  const admin = await administrate(service)
  const hugo = await admin.createIdentity({ name: 'hugo', password: 'a long password of hugo' })
  await logInAs(service, hugo)

  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of any shape
  async function json(...args: readonly string[]): Promise<any> {
    const { code, stdout, stderr } = await cli.run(...args, '--json')
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
    return JSON.parse(stdout)
  }

  async function done(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await cli.run(...args)
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
    return stdout
  }

  await t.test(
    'D-354: names come from the server, and nothing at all if it cannot be asked',
    async () => {
      assert.equal(await done('completion', 'names', 'identity', '--prefix', 'hu'), 'hugo\n')
      assert.equal(await done('completion', 'names', 'identity', '--prefix', 'nobody'), '')
      assert.match(await done('completion', 'names', 'policy'), /^default$/m)
      assert.match(await done('completion', 'names', 'session'), /^hugo$/m)
      for (const words of [['horse'], ['identity', '--context', 'missing']]) {
        const { code, stdout, stderr } = await cli.run('completion', 'names', ...words)
        assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '', stderr: '' })
      }
    },
  )
  async function refused(args: readonly string[], expected: number, sentence: RegExp) {
    const { code, stderr } = await cli.run(...args)
    assert.match(stderr, sentence, args.join(' '))
    assert.equal(code, expected, args.join(' '))
  }

  await t.test('an authenticator is listed, and shown by its username', async () => {
    const [listed, ...others] = await json('list', 'authenticators', '--identity', 'hugo')
    assert.deepEqual([listed.username, others], ['hugo', []])
    assert.equal((await json('get', 'authenticator', 'hugo')).id, listed.id)
    await refused(['get', 'authenticator', 'nobody'], 66, /no authenticator "nobody"/)
  })

  await t.test('creates, shows and deletes an enrollment', async () => {
    const made = await json('create', 'enrollment', '--identity', 'hugo', '--method', 'ott')
    assert.match(made.token, /^lke_/)
    assert.equal((await json('get', 'enrollment', 'hugo')).id, made.id)
    const again = ['create', 'enrollment', '--identity', 'hugo']
    await refused(again, 73, /^latchkey: ENROLLMENT_EXISTS: /)
    await refused(['create', 'enrollment'], 64, /^latchkey: "create enrollment" needs --identity\n/)
    await refused(['create', 'enrollment', '--identity', 'nobody'], 66, /no identity "nobody"/)
    await done('delete', 'enrollment', 'hugo', '--yes')
    await refused(
      ['update', 'enrollment', 'hugo'],
      66,
      /the identity "hugo" has no matching enrollment/,
    )
  })

  await t.test('shows the session of an identity that has one', async () => {
    const { identityId } = await json('get', 'session', 'hugo')
    assert.equal(identityId, hugo.id)
    await refused(['delete', 'session', 'nobody', '--yes'], 66, /no session "nobody"/)
  })

  await t.test('a policy is listed and deleted', async () => {
    await admin.createPolicy({ name: 'strict' })
    assert.match(await done('list', 'policies'), /^strict /m)
    await done('delete', 'policy', 'strict', '--yes')
    await refused(['create', 'policy'], 64, /"create policy" needs a NAME/)
  })

  await t.test('a signer is listed, changed and deleted', async () => {
    await admin.createSigner({ name: 'partner', issuer: 'https://idp.example/' })
    assert.match(await done('list', 'signers'), /^partner /m)
    await done('update', 'signer', 'partner', '--audience', 'somebody-else')
    assert.equal((await json('get', 'signer', 'partner')).audience, 'somebody-else')
    await refused(['create', 'signer', 'partner'], 65, /^latchkey: COULD_NOT_VALIDATE: /)
    await done('delete', 'signer', 'partner', '--yes')
    await refused(['get', 'signer', 'partner'], 66, /no signer "partner"/)
  })

  await t.test('a CA is listed and deleted', async () => {
    const file = join(cli.folder, 'factory.pem')
    await writeFile(file, (await openssl.makeCa()).pem)
    await done('create', 'ca', 'factory', '--cert', file)
    assert.match(await done('list', 'cas'), /^factory /m)
    await done('delete', 'ca', 'factory', '--yes')
    assert.deepEqual(await admin.get('/cas'), [])
  })

  await t.test('of several credentials the one that was lost is named', async () => {
    const lost = ['re-enroll', 'hugo', '--yes', '--method']
    await refused([...lost, 'retina'], 64, /^latchkey: --method must be one of password, cert\n/)
    await refused([...lost, 'cert'], 66, /the identity "hugo" has no matching authenticator/)
    await refused([...lost, 'password', '--expires-at', 'soon'], 65, /expiresAt \(--expires-at\) /)
  })

  await t.test('a deleted credential no longer logs in', async () => {
    await done('delete', 'authenticator', 'hugo', '--yes')
    const { code, stderr } = await cli.run('delete', 'authenticator', 'hugo', '--yes')
    assert.deepEqual([code, /the identity "hugo" has no authenticator/.test(stderr)], [66, true])
  })
})
