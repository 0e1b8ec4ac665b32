/**
 * `latchkey list|get|create|update|delete` as an administrator runs them, against a service of their own.
 */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { enrollByPassword, inviteNew, PASSWORD } from '../support/certificates/enrollment.ts'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { administrate, logInAs } from '../support/management.ts'
import { type CommandLine, commandLineOf } from '../support/process/cli-login.ts'
import { startService } from '../support/service.ts'

/** What a command prints for programs. */
async function json(cli: CommandLine, ...args: readonly string[]) {
  const { code, stdout, stderr } = await cli.run(...args, '--json')
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, args.join(' '))
  return JSON.parse(stdout)
}

async function refused(
  cli: CommandLine,
  args: readonly string[],
  expected: number,
  sentence: RegExp,
): Promise<void> {
  const { code, stdout, stderr } = await cli.run(...args)
  assert.match(stderr, sentence, args.join(' '))
  assert.deepEqual({ code, stdout }, { code: expected, stdout: '' }, args.join(' '))
}

test('what administrators manage, on the command line', async (t) => {
  const service = await startService(t)
  const cli = await commandLineOf(t, service)
  const admin = await administrate(service)

  await t.test('an identity is made by options, read, listed, changed and deleted', async () => {
    const made = await cli.run(
      ...['create', 'identity', 'alice', '--admin', '--policy', 'production', '--role', 'dev'],
      ...['--role', 'ops', '--tag', 'floor:=3', '--tag', 'note=a=b', '--external-id', 'a.smith'],
    )
    assert.equal(made.code, 0, made.stderr)
    const id = /^The identity "alice" was created: (\S+)\n$/.exec(made.stdout)?.[1] ?? ''
    const alice = await admin.get(`/identities/${id}`)
    assert.deepEqual(
      [alice.isAdmin, alice.type, alice.authPolicyId, alice.externalId, alice.roleAttributes],
      [true, 'Default', 'production', 'a.smith', ['dev', 'ops']],
    )
    assert.deepEqual(alice.tags, { floor: 3, note: 'a=b' })

    const listed = await cli.run('list', 'identities', '--filter', 'name = "alice"')
    assert.match(listed.stdout, new RegExp(`^NAME .*\nalice +${id} +Default +yes +production +dev`))
    const shown = await cli.run('get', 'identity', 'alice')
    assert.match(shown.stdout, /^externalId +a\.smith$/m)

    const changed = await cli.run(
      ...['update', 'identity', 'alice', '--no-admin', '--no-external-id', '--no-role'],
      ...['--name', 'alice smith'],
    )
    assert.equal(changed.code, 0, changed.stderr)
    const after = await json(cli, 'get', 'identity', id)
    assert.deepEqual(
      [after.name, after.isAdmin, after.externalId, after.roleAttributes, after.tags],
      ['alice smith', false, null, [], { floor: 3, note: 'a=b' }],
    )

    await refused(
      cli,
      ['delete', 'identity', id],
      64,
      /\? There is no terminal to ask on. Pass --yes to confirm/,
    )
    const deleted = await cli.run('delete', 'identity', 'alice smith', '--yes')
    assert.equal(deleted.stdout, `Deleted: identity "alice smith" (${id}).\n`)
    await refused(cli, ['get', 'identity', id], 66, /^latchkey: there is no identity "/)
  })

  await t.test('an identity that is invited gets its token, this once', async () => {
    const made = await json(cli, 'create', 'identity', 'laptop-7', '--enroll', 'ott')
    assert.match(made.enrollment.token, /^\S{20,}$/)
    const refreshed = await cli.run('update', 'enrollment', 'laptop-7')
    assert.equal(refreshed.code, 0, refreshed.stderr)
    // The link comes first: it is what an administrator hands to a person.
    const [, , , link] = refreshed.stdout.split('\n')
    assert.match(link ?? '', /^https:\/\/\S+\/invite#lke_[\w-]+$/)
    const token = /^token +(\S+)$/m.exec(refreshed.stdout)?.[1]
    assert.ok(link?.endsWith(`#${token}`))
    assert.ok(token !== undefined && token !== made.enrollment.token)
    const [open] = await json(cli, 'list', 'enrollments', '--identity', 'laptop-7')
    assert.deepEqual([open.id, open.method], [made.enrollment.id, 'ott'])
    assert.equal((await cli.run('delete', 'enrollment', 'laptop-7', '--yes')).code, 0)
    assert.deepEqual(await json(cli, 'list', 'enrollments', '--identity', 'laptop-7'), [])
    await refused(
      cli,
      ['create', 'identity', 'x', '--enroll', 'ottca'],
      64,
      /--enroll ottca needs --ca/,
    )
    await refused(
      cli,
      ['create', 'identity', 'x', '--enroll', 'updb', '--username', 'admin'],
      73,
      /ENTITY_NAME_IN_USE: .*: enrollment\.updb \(--username\) is in use/,
    )
    const invited = await json(cli, 'create', 'identity', 'by-name', '--enroll', 'updb')
    assert.match(invited.enrollment.token, /^\S{20,}$/)
    assert.equal((await cli.run('delete', 'identity', 'by-name', '--yes')).code, 0)
  })

  await t.test(
    'a credential makes way for an invitation, and its name stands for that',
    async () => {
      const username = 'forgetful'
      const { token } = await inviteNew(admin, { updb: username })
      const enrolled = await enrollByPassword(service, token, { username, password: PASSWORD })
      assert.equal(enrolled.status, 200, enrolled.text)
      const session = await logInAs(service, { username, password: PASSWORD })
      await refused(
        cli,
        ['re-enroll', username],
        64,
        /There is no terminal to ask on. Pass --yes to confirm/,
      )
      await refused(cli, ['re-enroll', username, '--yes', '--wait', 'long'], 64, /--wait must be/)
      const { code, stdout } = await cli.run('re-enroll', username, '--yes', '--wait', '20')
      assert.equal(code, 0)
      assert.match(
        stdout,
        /^The password of "forgetful" \(\w+\) is gone, and its sessions have ended\.\nConfirmed by 0 of 0 routers and 1 of 1 instance\.\n/,
      )
      const headers = { authorization: `Bearer ${session.access_token}` }
      const late = await service.call('/edge/client/v1/current-identity', { headers })
      assert.equal(late.json().error.code, 'UNAUTHORIZED')
      await refused(cli, ['re-enroll', username, '--yes'], 66, /no authenticator "forgetful"/)

      // The invitation that was used has the same username, and is not meant.
      const refreshed = await json(cli, 'update', 'enrollment', username)
      const again = { username, password: `${PASSWORD} again` }
      assert.equal((await enrollByPassword(service, refreshed.token, again)).status, 200)
      await logInAs(service, again)
    },
  )

  await t.test('a reset prints a link and changes nothing yet', async () => {
    const person = await admin.createIdentity({ name: 'resetting', password: PASSWORD })
    const { code, stdout, stderr } = await cli.run('reset', 'password', 'resetting', '--qr')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^The identity "resetting" \(\w+\) can choose a new password\./)
    assert.match(stdout, /^https:\/\/\S+\/invite#lke_[\w-]+$/m)
    assert.match(stdout, /\u2588/, 'the QR code')
    assert.doesNotMatch(stdout, /^(?:token|jwt) /m, 'only the page can use it')
    await logInAs(service, person)
    await refused(cli, ['reset', 'password', 'nobody'], 66, /no identity "nobody"/)
    await refused(cli, ['reset', 'mfa', 'resetting'], 73, /MFA_NOT_ENROLLED/)
  })

  await t.test('D-167: an id takes precedence over a name', async () => {
    // Attack: somebody is called by the id of somebody else, so that a script with ids hits the wrong one.
    const victim = await admin.createIdentity({ name: 'victim' })
    const impostor = await admin.createIdentity({ name: victim.id })
    assert.equal((await json(cli, 'get', 'identity', victim.id)).name, 'victim')
    assert.equal((await cli.run('delete', 'identity', impostor.id, '--yes')).code, 0)
    assert.equal((await json(cli, 'get', 'identity', victim.id)).id, victim.id)
  })

  await t.test('what fits several is refused, and all that fit are named', async () => {
    await administrate(service)
    const sessions = await json(cli, 'list', 'sessions', '--identity', 'admin')
    assert.ok(sessions.length > 1)
    const { code, stderr } = await cli.run('delete', 'session', 'admin', '--yes')
    assert.equal(code, 64)
    assert.match(stderr, /^latchkey: "admin" matches several sessions; give the id/)
    for (const { id } of sessions) assert.ok(stderr.includes(id))
    assert.equal(
      (await json(cli, 'list', 'sessions', '--identity', 'admin')).length,
      sessions.length,
    )
  })

  await t.test('reads a password from a file that other users cannot read', async () => {
    await admin.createIdentity({ name: 'bert' })
    const file = join(cli.folder, 'password')
    await writeFile(file, 'a long password of bert\nand no more\n', { mode: 0o644 })
    const args = ['create', 'authenticator', '--identity', 'bert', '--username', 'bert']
    await refused(cli, args, 64, /"create authenticator" needs --password-file/)
    await refused(cli, [...args, '--password-file', file], 1, /password/)
    const own = join(cli.folder, 'own')
    await writeFile(own, 'a long password of bert\nand no more\n', { mode: 0o600 })
    const made = await cli.run(...args, '--password-file', own)
    assert.equal(made.code, 0, made.stderr)
    await logsIn(service, { username: 'bert', password: 'a long password of bert' })

    const change = ['update', 'authenticator', 'bert', '--password-file', '-']
    const changed = await cli.runWith('another long password\n', ...change)
    assert.equal(changed.code, 0, changed.stderr)
    await logsIn(service, { username: 'bert', password: 'another long password' })
  })

  await t.test('a policy is made by options that name signers', async () => {
    const signer = await cli.run(
      ...['create', 'signer', 'idp', '--issuer', 'https://idp.example', '--audience', 'us'],
      ...['--jwks-endpoint', 'https://127.0.0.1:1/keys', '--claim', '/email', '--scope', 'email'],
    )
    assert.equal(signer.code, 0, signer.stderr)
    const made = await cli.run(
      ...['create', 'policy', 'strict', '--allow-cert', '--allow-ext-jwt', '--signer', 'idp'],
      ...['--allow-password', '--min-password-length', '15', '--require-totp'],
      ...['--require-ext-jwt', 'idp'],
    )
    assert.equal(made.code, 0, made.stderr)
    const { primary, secondary } = await json(cli, 'get', 'policy', 'strict')
    const { id } = await json(cli, 'get', 'signer', 'idp')
    assert.deepEqual(primary.extJwt, { allowed: true, allowedSigners: [id] })
    assert.deepEqual([primary.cert.allowed, primary.updb.minPasswordLength], [true, 15])
    assert.deepEqual([secondary.requireTotp, secondary.requireExtJwt], [true, id])

    const changed = await cli.run(
      ...[
        'update',
        'policy',
        'strict',
        '--no-require-ext-jwt',
        '--no-allow-password',
        '--no-signer',
      ],
    )
    assert.equal(changed.code, 0, changed.stderr)
    const after = await json(cli, 'get', 'policy', 'strict')
    assert.deepEqual([after.secondary.requireExtJwt, after.primary.updb.allowed], [null, false])
    assert.deepEqual(after.primary.extJwt, { allowed: true, allowedSigners: [] })
    await refused(
      cli,
      ['update', 'policy', 'strict', '--max-attempts', '5000'],
      65,
      /^latchkey: COULD_NOT_VALIDATE: .*: primary\.updb\.maxAttempts \(--max-attempts\) must be at most 1000 \[request \S+\]\n$/,
    )
    await refused(
      cli,
      ['create', 'policy', 'p', '--signer', 'none'],
      66,
      /there is no signer "none"/,
    )
  })

  await t.test(
    'registers a CA from a file, with the field that contains the external id',
    async () => {
      const openssl = await openOpenssl()
      t.after(() => openssl.close())
      const file = join(cli.folder, 'ca.pem')
      await writeFile(file, (await openssl.makeCa()).pem)
      const made = await cli.run(
        ...['create', 'ca', 'factory', '--cert', file, '--auth', '--claim-location', 'SAN_EMAIL'],
      )
      assert.equal(made.code, 0, made.stderr)
      const ca = await json(cli, 'get', 'ca', 'factory')
      assert.deepEqual(
        [ca.isAuthEnabled, ca.isVerified, ca.externalIdClaim.location],
        [true, false, 'SAN_EMAIL'],
      )
      assert.equal((await cli.run('update', 'ca', 'factory', '--no-claim', '--no-auth')).code, 0)
      const after = await json(cli, 'get', 'ca', 'factory')
      assert.deepEqual([after.isAuthEnabled, after.externalIdClaim], [false, null])
      await refused(cli, ['create', 'ca', 'x', '--cert', 'nowhere'], 66, /there is no file nowhere/)
      await refused(
        cli,
        ['create', 'ca', 'x', '--cert', '.'],
        66,
        /^latchkey: \. cannot be read: it is a folder\n/,
      )
    },
  )

  await t.test('a whole body comes from a file, and options go before it', async () => {
    const file = join(cli.folder, 'body.json')
    const body = { name: 'from-file', type: 'Router', isAdmin: false, roleAttributes: ['a'] }
    await writeFile(file, JSON.stringify(body))
    const { id } = await json(cli, 'create', 'identity', '--body', file, '--role', 'b')
    const piped = await cli.runWith('{"tags": {"a": 1}}', 'update', 'identity', id, '--body', '-')
    assert.equal(piped.code, 0, piped.stderr)
    const made = await admin.get(`/identities/${id}`)
    assert.deepEqual([made.name, made.type, made.roleAttributes], ['from-file', 'Router', ['b']])
    assert.deepEqual(made.tags, { a: 1 })
    await writeFile(file, '{"name": "twice", "name": "twice"}')
    await refused(cli, ['create', 'identity', '--body', file], 64, /is not one JSON object/)
  })

  await t.test('identities are listed by role, also together with a filter', async () => {
    const roles = ['door "7"', 'ops'] as const
    for (const [name, roleAttributes] of [
      ['role-1', [roles[0], roles[1]]],
      ['role-2', [roles[1]]],
      ['role-3', ['ops-2']],
    ] as const) {
      await admin.createIdentity({ name, roleAttributes })
    }
    const named = async (...args: readonly string[]) =>
      // biome-ignore lint/suspicious/noExplicitAny: JSON of the command
      (await json(cli, 'list', 'identities', ...args)).map(({ name }: any) => name)
    assert.deepEqual(await named('--role', roles[1]), ['role-1', 'role-2'])
    assert.deepEqual(await named('--role', roles[0]), ['role-1'])
    const both = ['--role', roles[1], '--filter', 'name = "role-2" or name = "role-3"']
    assert.deepEqual(await named(...both), ['role-2'])
    assert.deepEqual(await named('--role', 'nobody" or true'), [])
  })

  await t.test('a list says when it is not whole, and --all makes it whole', async () => {
    const page = await cli.run('list', 'identities', '--limit', '1', '--sort', 'createdAt')
    assert.match(page.stdout, /^NAME .*\nadmin .*\n$/)
    assert.match(page.stderr, /^1 of \d+, after 0; --all shows every one\.\n$/)
    const all = await json(cli, 'list', 'identities', '--all')
    assert.ok(all.length > 1)
    const { code, stderr } = await cli.run('list', 'identities', '--filter', 'nam = "x"')
    assert.equal(code, 65)
    assert.match(
      stderr,
      /^latchkey: INVALID_FILTER: .*: --filter: is not a field .*, at column 1: nam \[request /,
    )
    const sorted = await cli.run('list', 'identities', '--sort', 'nam desc')
    assert.equal(sorted.code, 65)
    assert.match(sorted.stderr, /^latchkey: INVALID_SORT_IDENTIFIER: .*: --sort: .*: nam desc \[/)
    await refused(cli, ['list', 'identities', '--limit', 'x'], 64, /--limit must be a whole number/)
    await refused(
      cli,
      ['list', 'identities', '--all', '--limit', '3'],
      64,
      /--all cannot be combined with --limit or --offset/,
    )
  })

  await t.test('each kind of refusal has its exit code', async () => {
    await refused(
      cli,
      ['create', 'identity', 'admin'],
      73,
      /^latchkey: ENTITY_NAME_IN_USE: .* \[request \S+\]\n$/,
    )
    await refused(
      cli,
      ['delete', 'identity', 'admin', '--yes'],
      73,
      /^latchkey: LAST_ADMINISTRATOR: /,
    )
    await refused(cli, ['delete', 'policy', 'default', '--yes'], 73, /ENTITY_CAN_NOT_BE_DELETED/)
    await refused(cli, ['update', 'identity', 'admin'], 64, /there is nothing to change/)
    await refused(cli, ['create', 'identity'], 64, /"create identity" needs a NAME/)
    await refused(
      cli,
      ['update', 'identity', 'admin', '--admin', '--no-admin'],
      64,
      /cannot be combined/,
    )

    const carol = await admin.createIdentity({
      name: 'carol',
      password: 'a long password of carol',
    })
    const hers = await commandLineOf(t, service, carol)
    await refused(hers, ['list', 'identities'], 77, /^latchkey: FORBIDDEN: /)
  })

  await t.test('on a terminal, deleting asks first', async () => {
    const { id } = await admin.createIdentity({ name: 'dora' })
    const answer = async (text: string) => {
      const terminal = cli.open('delete', 'identity', 'dora')
      await terminal.sees(`Delete the identity "dora" (${id})? [y/N] `)
      terminal.types(text)
      return { code: await terminal.ended(), screen: terminal.output() }
    }
    const no = await answer('')
    assert.equal(no.code, 1)
    assert.match(no.screen, /latchkey: nothing was done/)
    assert.equal((await admin.get(`/identities/${id}`)).name, 'dora')
    const yes = await answer('y')
    assert.equal(yes.code, 0, yes.screen)
    assert.equal((await admin.call('GET', `/identities/${id}`)).status, 404)
  })

  await t.test('on a terminal, a password is asked for and not shown', async () => {
    await admin.createIdentity({ name: 'emil' })
    const args = ['create', 'authenticator', '--identity', 'emil', '--username', 'emil']
    const terminal = cli.open(...args, '--password-file', '-')
    await terminal.sees('Password: ')
    terminal.types('a long password of emil')
    assert.equal(await terminal.ended(), 0, terminal.output())
    assert.ok(!terminal.output().includes('a long password of emil'))
    await logsIn(service, { username: 'emil', password: 'a long password of emil' })
  })

  await t.test('--help of a command has its options and examples', async () => {
    const { code, stdout } = await cli.run('create', 'identity', '--help')
    assert.equal(code, 0)
    for (const option of ['--admin', '--no-admin', '--policy NAME', '--enroll ott|updb|ottca']) {
      assert.ok(stdout.includes(option), option)
    }
    assert.match(stdout, /Examples:\n {2}latchkey create identity alice/)
  })

  await t.test('a server that does not answer is distinguished from one that refuses', async () => {
    await service.stop()
    const { code, stderr } = await cli.run('list', 'identities')
    assert.equal(code, 69, stderr)
  })
})

/** A login that succeeds. */
async function logsIn(
  service: Parameters<typeof administrate>[0],
  credentials: { readonly username: string; readonly password: string },
): Promise<void> {
  assert.notEqual((await administrate(service, credentials)).token, '')
}
