/** What people do about their own account without a browser: `latchkey password`, `latchkey mfa …`. API 3.1. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inviteNew } from '../support/certificates/enrollment.ts'
import { authenticatorApp } from '../support/login/authenticator-app.ts'
import { administrate, logInAs } from '../support/management.ts'
import { freshCli } from '../support/process/cli.ts'
import { type CommandLine, commandLineOf } from '../support/process/cli-login.ts'
import { startService } from '../support/service.ts'

const PASSWORD = 'a long password of hers'
const NEXT = 'another long password of hers'

async function refused(
  cli: CommandLine,
  args: readonly string[],
  input: string,
  expected: number,
  sentence: RegExp,
): Promise<void> {
  const { code, stderr } = await cli.runWith(input, ...args)
  assert.match(stderr, sentence, args.join(' '))
  assert.equal(code, expected, args.join(' '))
}

test("the user's own account on the command line", async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const person = await admin.createIdentity({ password: PASSWORD })
  const { username } = person
  const cli = await commandLineOf(t, service, person)

  await t.test('a user who knows the current password changes it', async () => {
    const args = ['password']
    await refused(cli, args, `wrong one\n${NEXT}\n`, 65, /currentPassword \(the current one\) /)
    await refused(cli, args, `${PASSWORD}\nshort\n`, 65, /password \(the new one\) must have at /)
    await refused(cli, args, `${PASSWORD}\n`, 64, /standard input has no line for "New password"/)
    await logInAs(service, { username, password: PASSWORD })

    const terminal = cli.open(...args)
    await terminal.sees('Current password: ')
    terminal.types(PASSWORD)
    await terminal.sees('New password: ')
    terminal.types(NEXT)
    await terminal.sees('Repeat it: ')
    terminal.types(NEXT)
    await terminal.sees('The password was changed. All your other sessions have ended.')
    assert.equal(await terminal.ended(), 0)
    assert.ok(!/a long|another/.test(terminal.output()), 'nothing of either is shown')
    await logInAs(service, { username, password: NEXT })
    // The session that changed it goes on.
    assert.equal((await cli.run('whoami')).code, 0)
  })

  await t.test('a user without a password is told so, and is asked for nothing', async (t) => {
    const { jwt } = await inviteNew(admin, { ott: true })
    const device = await freshCli(t)
    await device.succeed(['enroll', '-', '--out', 'me.json'], jwt)
    await device.succeed(['login', '--identity', 'me.json'])
    const { code, stderr } = await device.run(['password'])
    assert.equal(stderr, 'latchkey: you have no password; you log in with another method\n')
    assert.equal(code, 66)
  })

  await t.test('TOTP is set up on a terminal, renewed and taken away', async () => {
    const off = await cli.run('mfa', 'status')
    assert.deepEqual(
      [off.code, off.stdout],
      [0, 'TOTP                 off\nrecovery codes left  -\n'],
    )
    await refused(cli, ['mfa', 'enable'], '', 64, /shows a secret, and needs a terminal/)
    await refused(cli, ['mfa', 'disable'], '', 66, /TOTP is off; "latchkey mfa enable" turns it on/)
    await refused(cli, ['mfa', 'recovery-codes'], '', 66, /TOTP is off/)

    const given = cli.open('mfa', 'enable')
    await given.sees('First code of the app: ')
    given.presses('\u0003')
    assert.equal(await given.ended(), 130)
    assert.match((await cli.run('mfa', 'status')).stdout, /^TOTP +off$/m)

    const terminal = cli.open('mfa', 'enable')
    await terminal.sees('First code of the app: ')
    assert.match(terminal.output(), /█▀▀▀▀▀█/)
    const [, secret = ''] = /enter this secret: ([A-Z2-7]+)/.exec(terminal.output()) ?? []
    const app = authenticatorApp(`otpauth://totp/x:y?secret=${secret}`, service.clock)
    terminal.types(app.wrongCode())
    await terminal.sees('Wrong code. Try again: ')
    terminal.types(app.code())
    await terminal.sees('TOTP is on. ')
    assert.equal(await terminal.ended(), 0)

    const status = JSON.parse((await cli.run('mfa', 'status', '--json')).stdout)
    assert.deepEqual(status, { isEnabled: true, recoveryCodes: 20 })
    const again = cli.open('mfa', 'enable')
    await again.sees('latchkey: MFA_EXISTS: ')
    assert.equal(await again.ended(), 73)

    const wrong = `${app.wrongCode()}\n`
    await refused(cli, ['mfa', 'recovery-codes'], wrong, 65, /^latchkey: MFA_INVALID_TOKEN: /)
    const renewed = await cli.runWith(`${app.nextCode()}\n`, 'mfa', 'recovery-codes')
    assert.equal(renewed.code, 0, renewed.stderr)
    const [recoveryCode = '', ...others] = renewed.stdout.trim().split('\n')
    assert.equal(others.length, 19)

    await refused(cli, ['mfa', 'disable'], wrong, 65, /^latchkey: MFA_INVALID_TOKEN: /)
    const disabled = await cli.runWith(`${recoveryCode}\n`, 'mfa', 'disable')
    assert.equal(disabled.stdout, 'TOTP is off, and the recovery codes are void.\n')
    await logInAs(service, { username, password: NEXT })
  })
})
