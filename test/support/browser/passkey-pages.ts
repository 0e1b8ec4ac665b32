/** Every page of a login with passkeys, how it is reached, and its heading: for tests that look at all of them. */
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { ClientApp } from '../client/client-app.ts'
import { PASSWORD } from '../login/authenticator-app.ts'
import { administrate } from '../management.ts'
import { passkeyPerson, passkeyPolicy } from '../passkeys/passkey-login.ts'
import type { Service } from '../service.ts'
import { openLoginForm, submit } from './login-pages.ts'
import type { VisitedPages } from './visited-pages.ts'

export async function passkeyPages(
  _: TestContext,
  service: Service,
  app: ClientApp,
): Promise<VisitedPages> {
  const admin = await administrate(service)
  const policy = await passkeyPolicy(admin)
  const name = `${'W'.repeat(60)} \u202Eزينب passkeys`
  const owner = await passkeyPerson(service, admin, { name, policy })
  const newcomer = await admin.createIdentity({ password: PASSWORD, policy })
  const open = async (page: Page, person: Parameters<typeof submit>[1]) => {
    await openLoginForm(page, app)
    await submit(page, person)
  }
  const codes = [...owner.recoveryCodes]
  const openAccount = async (page: Page) => {
    await page.goto(`${service.baseUrl}/account/passkeys`)
    await submit(page, owner)
    await page.getByText('Use a recovery code').click()
    await page.getByLabel('Recovery code').fill(codes.pop() ?? '')
    await page.getByRole('button', { name: 'Continue' }).click()
  }
  const plain = await admin.createIdentity({ password: PASSWORD })
  const openFirst = async (page: Page) => {
    await page.goto(`${service.baseUrl}/account/passkeys`)
    await submit(page, plain)
    await page.getByRole('button', { name: 'Add a passkey' }).waitFor()
  }
  return {
    'account: passkeys': ['Passkeys', openAccount],
    'account: no passkeys': ['Passkeys', openFirst],
    'account: a first passkey': [
      'Create a passkey',
      async (page) => {
        await openFirst(page)
        await page.getByRole('button', { name: 'Add a passkey' }).click()
      },
    ],
    'the page that asks for a passkey': ['Use your passkey', (page) => open(page, owner)],
    'the page that asks for a passkey, after a wrong recovery code': [
      'Use your passkey',
      async (page) => {
        await open(page, owner)
        await page.getByText('Use a recovery code').click()
        await page.getByLabel('Recovery code').fill('wrong')
        await page.getByRole('button', { name: 'Continue' }).click()
        await page.getByRole('alert').waitFor()
      },
    ],
    'the page that creates a passkey': ['Create a passkey', (page) => open(page, newcomer)],
  }
}
