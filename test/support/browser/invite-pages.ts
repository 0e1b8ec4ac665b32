/** Every page of invitations and resets, how it is reached, and its heading: for tests that look at all of them. */
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { days } from '../../../src/base/time/duration.ts'
import { registerCa } from '../certificates/certificate-login.ts'
import { inviteNew } from '../certificates/enrollment.ts'
import { openOpenssl } from '../certificates/openssl.ts'
import { enrolledPerson, PASSWORD } from '../login/authenticator-app.ts'
import { resetLink, tokenOf } from '../login/invite.ts'
import { administrate } from '../management.ts'
import type { Service } from '../service.ts'
import type { VisitedPages } from './visited-pages.ts'

export async function invitePages(t: TestContext, service: Service): Promise<VisitedPages> {
  const admin = await administrate(service)
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const caId = await registerCa(admin, openssl, await openssl.makeCa(), {
    isOttCaEnrollmentEnabled: true,
  })
  // As hard to wrap as a name may be.
  const name = `${'W'.repeat(60)} \u202Eزينب`
  let count = 0
  const invited = (enrollment: object) => {
    count += 1
    return inviteNew(admin, { ...enrollment }, { name: `${name} ${count}` })
  }
  const withPassword = await invited({ updb: 'w'.repeat(60) })
  const withFile = await invited({ ott: true })
  const withCa = await invited({ ottca: caId })
  const withdrawn = await invited({ updb: 'withdrawn' })
  await admin.act('DELETE', `/enrollments/${withdrawn.id}`)
  const person = await admin.createIdentity({ password: PASSWORD })
  const reset = tokenOf(await resetLink(admin, 'reset-password', person.id))
  const phone = await enrolledPerson(service, admin)
  const lost = tokenOf(await resetLink(admin, 'reset-mfa', phone.id))

  const open = async (page: Page, token: string) => {
    await page.goto(`${service.baseUrl}/invite`)
    await page.getByLabel('Link or code').fill(token)
    await page.getByRole('button', { name: 'Continue' }).click()
  }
  const openWhole = async (page: Page, token: string) => {
    await open(page, token)
    await page.locator('summary').click()
  }

  return {
    'invite: the link is pasted': [
      'Open your link',
      async (page) => void (await page.goto(`${service.baseUrl}/invite`)),
    ],
    'invite: a password': ['Choose your password', (page) => openWhole(page, withPassword.token)],
    'invite: a password that is refused': [
      'Choose your password',
      async (page) => {
        await open(page, withPassword.token)
        await page.getByLabel('New password', { exact: true }).fill('x')
        await page.getByLabel('Confirm new password').fill('y')
        await page.getByRole('button', { name: 'Save and sign in' }).click()
        await page.getByRole('alert').waitFor()
      },
    ],
    'invite: an identity file': [
      'Get your identity file',
      (page) => openWhole(page, withFile.token),
    ],
    'invite: a certificate of a CA': [
      'Register your certificate',
      (page) => open(page, withCa.token),
    ],
    'invite: a new password': ['Choose a new password', (page) => open(page, reset)],
    'invite: a lost phone': ['Replace your app or passkey', (page) => open(page, lost)],
    'invite: a lost phone, with a wrong password': [
      'Replace your app or passkey',
      async (page) => {
        await open(page, lost)
        await page.getByLabel('Password').fill('not this one')
        await page.getByRole('button', { name: 'Remove and continue' }).click()
        await page.getByRole('alert').waitFor()
      },
    ],
    'invite: a link that is not valid': [
      'This link is not valid',
      (page) => open(page, withdrawn.token),
    ],
    'invite: a link that has expired': [
      'This link has expired',
      async (page) => {
        const { token } = await invited({ updb: 'late' })
        service.clock.advance(days(2))
        await open(page, token)
      },
    ],
  }
}
