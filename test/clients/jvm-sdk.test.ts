/** The unmodified JVM SDK of OpenZiti against the compatibility layer: D-314. Needs Java and Maven; run by `npm run test:clients`. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { missing, prepareJava, runWith } from '../support/clients/toolchains.ts'
import { type AuthenticatorApp, authenticatorApp } from '../support/login/authenticator-app.ts'
import { OPENZITI } from '../support/login/openziti.ts'
import { administrateOpenZiti } from '../support/login/openziti-administrator.ts'
import { startService, temporaryFolder } from '../support/service.ts'

const skip = (await missing('mvn', '--version')) || (await missing('java', '--version'))

test('the JVM SDK enrolls, logs in, sets up TOTP and logs in with a code', { skip }, async (t) => {
  const folder = fileURLToPath(new URL('./jvm', import.meta.url))
  // The SDK reads a private method of sockets, which newer versions of Java hide.
  const open = ['--add-opens', 'java.base/java.net=ALL-UNNAMED']
  const args = [...open, '-cp', await prepareJava(folder), join(folder, 'Client.java')]
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const device = { name: 'phone', type: 'Device', isAdmin: false, enrollment: { ott: true } }
  const { id } = (await admin.call('POST', '/identities', device)).json().data
  const { jwt } = (await admin.get(`/identities/${id}`)).enrollment.ott
  const file = join(await temporaryFolder(t), 'identity.p12')

  let app: AuthenticatorApp | undefined
  const enroll = { case: 'enroll', jwt, file }
  const enrolled = await runWith('java', args, enroll, async (provisioningUrl) => {
    app = authenticatorApp(provisioningUrl, service.clock)
    return app.nextCode()
  })
  assert.equal(enrolled.code, 0, enrolled.log)
  assert.deepEqual(enrolled.printed, { name: 'phone' })
  assert.equal((await admin.get(`/identities/${id}`)).isMfaEnabled, true)

  const logIn = { case: 'login', file, code: app?.nextCode() }
  const again = await runWith('java', args, logIn)
  assert.equal(again.code, 0, again.log)
  assert.deepEqual(again.printed, { name: 'phone' })
})
