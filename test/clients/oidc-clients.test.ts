/**
 * Libraries and programs for OpenID Connect in other languages, unmodified and with their defaults, on both brands. Each
 * needs its toolchain; run by `npm run test:clients`. Authlib is in python.test.ts.
 */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { browserOf } from '../support/clients/browser.ts'
import { startProxy } from '../support/clients/oauth2-proxy.ts'
import { buildGo, buildRust, missing, prepareJava, runWith } from '../support/clients/toolchains.ts'
import { ADMIN, startService, temporaryFolder } from '../support/service.ts'

const folder = (name: string) => fileURLToPath(new URL(`./${name}`, import.meta.url))

/** The program of each library; what it does is the same in every language. */
const LIBRARIES = {
  'go-oidc': {
    skip: await missing('go', 'version'),
    prepare: async () => [await buildGo(folder('go'), './oidc')],
  },
  Nimbus: {
    skip: (await missing('mvn', '--version')) || (await missing('java', '--version')),
    prepare: async () => [
      'java',
      '-cp',
      await prepareJava(folder('java')),
      folder('java/Client.java'),
    ],
  },
  'openidconnect (Rust)': {
    skip: await missing('cargo', '--version'),
    prepare: async () => [await buildRust(folder('rust'))],
  },
} as const

for (const [name, { skip, prepare }] of Object.entries(LIBRARIES)) {
  test(`${name} logs in, reads userinfo and refreshes, with its defaults`, { skip }, async (t) => {
    const [command = '', ...args] = await prepare()
    for (const brand of ['service', 'openziti']) {
      await t.test(`with the brand ${brand}`, async (t) => {
        const service = await startService(t, { config: { edge: { brand } } })
        const input = {
          issuer: `${service.baseUrl}/oidc`,
          clientId: brand,
          redirectUri: 'http://127.0.0.1:9876/callback',
          ca: service.ca,
        }
        const browser = browserOf(service, ADMIN)
        const { code, printed, log } = await runWith(command, args, input, browser.visit)
        assert.equal(code, 0, log)
        assert.deepEqual(printed, { name: 'admin', alg: 'RS256', isRotated: true })
      })
    }
  })
}

const noGo = await missing('go', 'version')
test('oauth2-proxy signs its users in, and refreshes', { skip: noGo }, async (t) => {
  const program = await buildGo(folder('oauth2-proxy'), 'github.com/oauth2-proxy/oauth2-proxy/v7')
  for (const brand of ['service', 'openziti']) {
    await t.test(`with the brand ${brand}`, async (t) => {
      const service = await startService(t, { config: { edge: { brand } } })
      const caFile = join(await temporaryFolder(t), 'ca.pem')
      await writeFile(caFile, service.ca)
      const proxy = await startProxy(t, program, {
        issuer: `${service.baseUrl}/oidc`,
        clientId: brand,
        caFile,
      })
      const browser = browserOf(service, ADMIN)
      const seen = await browser.open(`${proxy.url}/`)
      assert.equal(seen.status, 200, `${seen.text}\n${proxy.log()}`)
      assert.deepEqual(JSON.parse(seen.text), { name: 'admin' })
      // Its cookie is older than --cookie-refresh now, so the next request refreshes.
      await proxy.untilRefreshIsDue()
      assert.equal((await browser.open(`${proxy.url}/`)).status, 200, proxy.log())
      const store = await service.openStore()
      const events = await store.events.list({ limit: 50, offset: 0 })
      assert.ok(
        events.rows.some(({ type }) => type === 'token.refreshed'),
        proxy.log(),
      )
    })
  }
})
