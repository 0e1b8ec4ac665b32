/** docs/certificates.md, docs/audit.md and docs/external-idp.md are run: their blocks, as they stand there. */
import assert from 'node:assert/strict'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  callbackPath,
  cookieBrowser,
  sentTo,
  startPath,
} from '../support/browser/cookie-browser.ts'
import { TestClock } from '../support/clocks/clock.ts'
import { runGuide } from '../support/guides/guide.ts'
import { startLoginIdp } from '../support/idp/login-idp.ts'
import { answerOf } from '../support/login/login.ts'
import { administrate } from '../support/management.ts'
import { ADMIN, type Service, startService, temporaryFolder } from '../support/service.ts'

test('pages with a few lines for administrators', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)

  await t.test(
    'docs/certificates.md renews, registers a CA, and enrolls its devices',
    async (t) => {
      await runGuide(t, 'docs/certificates.md', await paste(service))
      const names = (await admin.get('/identities')).map(({ name }: { name: string }) => name)
      assert.deepEqual(names, ['admin', 'device', 'device-2', 'partner-device-3'])
    },
  )

  await t.test('docs/audit.md finds out why a login failed', async (t) => {
    await runGuide(t, 'docs/audit.md', await paste(service))
  })

  await t.test('docs/external-idp.md creates a signer that users log in through', async (t) => {
    const idp = await startLoginIdp(t, { clock: new TestClock() })
    const { replace, ...options } = await paste(service)
    const realm = 'https://login.example.com/realms/staff'
    await runGuide(t, 'docs/external-idp.md', {
      ...options,
      replace: {
        [`${realm}/protocol/openid-connect/certs`]: `${idp.issuer}/jwks`,
        [realm]: idp.issuer,
        ...replace,
      },
    })
    const [{ id }] = await admin.get('/external-jwt-signers')
    const browser = cookieBrowser(service)
    const { authRequestId } = await browser.begin()
    const location = sentTo(await browser.get(startPath(id, authRequestId)))
    const code = idp.approve(location, '6f3c1d2e-ada')
    assert.ok(answerOf(await browser.get(callbackPath(location, { code }))).get('code'))
  })

  async function paste({ home, baseUrl }: Service) {
    const cwd = await temporaryFolder(t)
    await symlink(home, join(cwd, 'latchkey-data'))
    return {
      cwd,
      typed: `${ADMIN.password}\n`,
      replace: { 'localhost:1280': new URL(baseUrl).host },
    }
  }
})
