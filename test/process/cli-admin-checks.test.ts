/**
 * What administrators try out, count and end on the command line: signers, CAs, policies, what expires, sessions and
 * keys.
 */
import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { decodeJwt, SignJWT } from 'jose'
import { systemClock } from '../../src/base/time/clock.ts'
import { minutes } from '../../src/base/time/duration.ts'
import { epochSeconds } from '../../src/base/time/instant.ts'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { newIdpKey, signJwt } from '../support/idp/external-idp.ts'
import { administrate, logInAs } from '../support/management.ts'
import { waitFor } from '../support/process/child-service.ts'
import { commandLineOf } from '../support/process/cli-login.ts'
import { done, refused } from '../support/process/cli-outcomes.ts'
import { startService } from '../support/service.ts'
import { sql } from '../support/stores/sql.ts'

const PASSWORD = 'a long password of hers'

test('what administrators try out and end, on the command line', async (t) => {
  const service = await startService(t)
  const cli = await commandLineOf(t, service)
  const admin = await administrate(service)

  await t.test('a JWT is tried against a signer, step by step', async () => {
    const openssl = await openOpenssl()
    t.after(() => openssl.close())
    const { pem, keyPem } = await openssl.makeCa()
    await admin.createSigner({ name: 'idp', issuer: 'https://idp.example', certPem: pem })
    await admin.createIdentity({ name: 'hugo', externalId: 'hugo@example.com' })
    const file = join(cli.folder, 'jwt')
    const now = epochSeconds(systemClock.now())
    const claims = { iss: 'https://idp.example', aud: 'latchkey', sub: 'hugo@example.com' }
    const good = await new SignJWT({ ...claims, iat: now, exp: now + 60 })
      .setProtectedHeader({ alg: 'ES256' })
      .sign(createPrivateKey(keyPem))
    const accepted = await cli.runWith(good, 'signer', 'check', 'idp', '--jwt', '-')
    assert.equal(accepted.code, 0, accepted.stdout)
    assert.doesNotMatch(accepted.stdout, /^[^✓A]/m)
    assert.match(accepted.stdout, /\nA login with this JWT would be accepted\.\n$/)

    const key = await newIdpKey('k1')
    await writeFile(file, `${await signJwt(key, { ...claims, iat: now, exp: now + 60 })}\n`)
    const { code, stdout } = await cli.run('signer', 'check', 'idp', '--jwt', file)
    assert.equal(code, 1)
    assert.match(stdout, /^✓ signer /m)
    assert.match(stdout, /^✗ signature /m)
    assert.match(stdout, /^A login with this JWT would be refused\.$/m)
    await refused(cli, ['signer', 'check', 'idp'], 64, /"signer check" needs --jwt/)
    await refused(cli, ['signer', 'check', 'other', '--jwt', file], 66, /no signer "other"/)
  })

  await t.test('a CA is verified by a certificate with its token', async () => {
    const openssl = await openOpenssl()
    t.after(() => openssl.close())
    const ca = await openssl.makeCa()
    await admin.createCa({ name: 'factory', certPem: ca.pem })
    const token = (await done(cli, ['ca', 'token', 'factory'], /^[\w-]{1,64}\n$/)).trim()
    const prove = async (name: string) => {
      const file = join(cli.folder, 'proof.pem')
      await writeFile(file, (await openssl.makeLeaf(ca, { subject: `/CN=${name}` })).pem)
      return ['ca', 'verify', 'factory', '--cert', file]
    }
    await refused(cli, await prove('another'), 65, /^latchkey: INVALID_COMMON_NAME: /)
    await done(cli, await prove(token), /^The CA "factory" \(\w+\) is verified\.\n$/)
    await refused(cli, ['ca', 'token', 'factory'], 73, /is verified already/)
    await refused(cli, ['ca', 'verify', 'factory'], 64, /"ca verify" needs --cert/)
  })

  await t.test('a change of a policy is previewed, and nothing changes', async () => {
    await admin.createIdentity({ name: 'iris', password: PASSWORD })
    const preview = await done(
      cli,
      ['policy', 'what-if', 'default', '--no-allow-password'],
      /^Nothing was changed\.$/m,
    )
    assert.match(preview, /^Saving would be refused: .*LAST_ADMINISTRATOR/m)
    assert.match(preview, /^ {2}iris: /m)
    assert.match(preview, /^ {2}admin \(administrator\): /m)
    await logInAs(service, { username: 'iris', password: PASSWORD })
    await refused(cli, ['policy', 'what-if', 'default'], 64, /there is nothing to preview/)
    await refused(cli, ['policy', 'what-if', 'none', '--require-totp'], 66, /no policy "none"/)
  })

  await t.test('the overview counts, and what expires is listed with its exit code', async () => {
    const overview = await done(cli, ['overview'], /^live sessions:? +[1-9]\d* OIDC/m)
    assert.match(overview, /^INSTANCE +VERSION +STATE/m)
    const all = await done(cli, ['expiry'], /^ENDS +IN DAYS +KIND +NAME +RENEWED BY$/m)
    assert.match(all, / signing-key /)
    const none = await cli.run('expiry', '--days', '0')
    assert.deepEqual([none.code, none.stdout], [0, 'Nothing expires.\n'])
    const soon = await cli.run('expiry', '--days', '10000')
    assert.equal(soon.code, 1, 'so that a job can tell')
    await refused(cli, ['expiry', '--days', 'soon'], 64, /--days/)
    await refused(cli, ['overview', 'now'], 64, /now/)
  })

  await t.test('the JWT of a CA is for those that enroll by themselves', async () => {
    await refused(cli, ['ca', 'jwt', 'factory'], 65, /^latchkey: COULD_NOT_VALIDATE: /)
    await done(cli, ['update', 'ca', 'factory', '--auto-enrollment'], /^The ca "factory"/)
    const jwt = await done(cli, ['ca', 'jwt', 'factory'], /^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    const [ca] = await admin.get('/cas?filter=name="factory"')
    const { em, sub, iss } = decodeJwt(jwt.trim())
    assert.deepEqual({ em, sub, iss }, { em: 'ca', sub: ca.id, iss: service.baseUrl })
    await refused(cli, ['ca', 'jwt', 'other'], 66, /no ca "other"/)
  })

  await t.test('ends all sessions of one identity, and of no other by mistake', async () => {
    const gina = await admin.createIdentity({ name: 'gina', password: PASSWORD })
    await logInAs(service, gina)
    await refused(
      cli,
      ['sessions', 'end-all', '--yes'],
      64,
      /needs either --identity or --everybody/,
    )
    await refused(cli, ['sessions', 'end-all', '--identity', 'gina'], 64, /--yes/)
    const args = ['sessions', 'end-all', '--identity', 'gina', '--yes']
    await done(cli, args, /"gina" \(\w+\) no longer has a session\.\n$/)
    assert.deepEqual(await admin.get(`/identities/${gina.id}/api-sessions`), [])
  })

  await t.test(
    'D-381: an end waits for its confirmations, and a session has a ledger',
    async () => {
      const hana = await admin.createIdentity({ name: 'hana', password: PASSWORD })
      const sessionOf = async () => {
        await logInAs(service, hana)
        const [session] = await admin.get(`/identities/${hana.id}/api-sessions`)
        return session.id as string
      }
      const first = await sessionOf()
      await refused(cli, ['delete', 'session', first, '--yes', '--wait', '61'], 64, /from 0 to 60/)
      const everyone = /Confirmed by 0 of 0 routers and 1 of 1 instance\.\n$/
      await done(cli, ['delete', 'session', first, '--yes', '--wait', '10'], everyone)
      await sessionOf()
      const endAll = ['sessions', 'end-all', '--identity', 'hana', '--yes', '--wait', '10']
      await done(cli, endAll, everyone)
      await done(cli, [...endAll, '--json'], /"confirmations": null/)

      // Another instance that has not applied anything.
      const now = systemClock.now()
      const report = JSON.stringify({
        revision: 'x',
        failing: [],
        warnings: [],
        serverCertificates: [],
      })
      await sql(
        service,
        `insert into instances values ('x', 'x', 'other-host', '1.0.0', ${now}, ${now}, '${report}', '[]')`,
      )
      const second = await sessionOf()
      const late = await cli.run('disable', 'identity', 'hana', '--wait', '0')
      assert.equal(late.code, 74, late.stderr)
      assert.match(late.stdout, /^NOT CONFIRMED .*\n(?:.*\n)?instance other-host +waiting /m)
      await sql(service, `delete from instances where id = 'x'`)

      const described =
        /token\.issued(?:.*\n)+.*session\.ended +identity-disabled(?:.*\n)+Confirmed by /
      await done(cli, ['describe', 'session', second], described)
      await refused(
        cli,
        ['describe', 'session', 'nothing'],
        66,
        /there is no session "nothing", now or before/,
      )
      await admin.createIdentity({ name: 'edge-1', type: 'Router' })
      await done(cli, ['list', 'routers'], /^edge-1 +\w+ +- +no +- +- +0$/m)
    },
  )

  await t.test('D-168: keys rotate over the API where no home is', async () => {
    const before = await admin.get('/signing-keys')
    await done(cli, ['keys', 'list'], new RegExp(`^${before[0].kid} +access +ES256 +signing `, 'm'))
    const said = await done(
      cli,
      ['keys', 'rotate'],
      /^The key \S+ \(ES256\) for access tokens is published/,
    )
    const [kid, idKid] = [...said.matchAll(/The key (\S+)/g)].map(([, found]) => found)
    const after = await admin.get('/signing-keys')
    assert.deepEqual(
      after.map((key: { kid: string }) => key.kid),
      [before[0].kid, before[1].kid, kid, idKid],
    )
    await refused(
      cli,
      ['keys', 'rotate', '--context', 'default', '--home', service.home],
      64,
      /--context is for the API/,
    )
    // A home that is named is the one that is meant, also beside a login.
    const local = await cli.run('keys', 'rotate', '--home', service.home)
    assert.equal(local.code, 0, local.stderr)
    assert.equal((await admin.get('/signing-keys')).length, 6)
    await refused(cli, ['keys', 'rotate', '--wait', '5'], 64, /--wait needs --revoke-now/)
    // The token of the command line is one of those that are withdrawn; its session goes on.
    const leaked = ['keys', 'rotate', '--context', 'default', '--revoke-now', '--wait', '10']
    await done(
      cli,
      leaked,
      /^(The key \S+ \(\w+\) for (access|ID) tokens signs from now on\.\n){2}All older keys are withdrawn: .*\nConfirmed by 0 of 0 routers and 1 of 1 instance\.\n$/,
    )
    const inHome = ['keys', 'rotate', '--home', service.home, '--revoke-now', '--wait', '10']
    await done(cli, inHome, /\nConfirmed by 0 of 0 routers and 1 of 1 instance\.\n$/)
    assert.equal(JSON.parse((await cli.run('keys', 'list', '--json')).stdout).length, 2)
  })

  await t.test('--everybody also logs out the administrator', async (t) => {
    const patience = t.mock.method(AbortSignal, 'timeout')
    const args = ['sessions', 'end-all', '--everybody', '--yes', '--wait', '10']
    const confirmed =
      /^All sessions have ended\. .*\nConfirmed by 1 of 1 routers and instances\.\n$/
    await done(cli, args, confirmed)
    // There may be a million of them.
    const longest = Math.max(...patience.mock.calls.map(({ arguments: [limit] }) => limit))
    assert.equal(longest, minutes(30))
    await waitFor(
      async () => (await cli.run('list', 'identities')).code === 77,
      () => 'the end of our own session',
    )
  })
})
