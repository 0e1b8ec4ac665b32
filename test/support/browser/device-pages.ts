/** Every page on which a user approves a device, how it is reached, and its heading: for tests that look at all of them. */
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { PASSWORD } from '../login/authenticator-app.ts'
import { startDevice } from '../login/device.ts'
import { administrate } from '../management.ts'
import { ADMIN, type Service } from '../service.ts'
import { submit } from './login-pages.ts'
import type { VisitedPages } from './visited-pages.ts'

export async function devicePages(_: TestContext, service: Service): Promise<VisitedPages> {
  const admin = await administrate(service)
  const person = await admin.createIdentity({
    name: `${'W'.repeat(60)} \u202Eزينب devices`,
    password: PASSWORD,
  })
  const open = async (page: Page) => {
    const { verificationUriComplete } = await startDevice(service)
    await page.goto(verificationUriComplete)
    await page.getByRole('button', { name: 'Continue' }).click()
    await submit(page, person)
    await page.getByRole('button', { name: 'Deny' }).waitFor()
  }
  const answer = (name: string) => async (page: Page) => {
    await open(page)
    await page.getByRole('button', { name }).click()
  }
  const signer = await admin.createSigner({ issuer: 'https://idp.example/devices' })
  const policy = await admin.createPolicy()
  const blocked = await admin.createIdentity({ password: PASSWORD, policy })
  return {
    'device: the code': [
      'Sign in on another device',
      async (page) => void (await page.goto(`${service.baseUrl}/device`)),
    ],
    'device: a code that is not one': [
      'Sign in on another device',
      async (page) => void (await page.goto(`${service.baseUrl}/device/confirm?user_code=x`)),
    ],
    'device: the question': ['Sign in this device?', open],
    'device: approved': ['Device approved', answer('Approve')],
    'device: denied': ['Device denied', answer('Deny')],
    'device: a form that is out of date': [
      'Nothing was changed',
      async (page) => {
        await open(page)
        await page.evaluate("document.querySelector('[name=formToken]').value = 'x'")
        await page.getByRole('button', { name: 'Approve' }).click()
      },
    ],
    'device: not available': [
      'Not available for your account',
      async (page) => {
        await page.goto(`${service.baseUrl}/device/sign-in`)
        await submit(page, blocked)
        await page.getByRole('heading', { name: 'Sign in on another device' }).waitFor()
        // The pages before this one have moved the clock past the end of the first token.
        const again = await administrate(service)
        await again.act('PATCH', `/auth-policies/${policy}`, {
          secondary: { requireExtJwtSigner: signer },
        })
        await page.goto(`${service.baseUrl}/device/confirm?user_code=BCDF-GHJK`)
      },
    ],
    'device: signed out': [
      'Signed out',
      async (page) => {
        await page.goto(`${service.baseUrl}/device/sign-in`)
        await submit(page, ADMIN)
        await page.goto(`${service.baseUrl}/device/signed-out`)
      },
    ],
  }
}
