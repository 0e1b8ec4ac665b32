/** kubelogin (`kubectl oidc-login`) with the options of docs/clients.md, on both brands. Needs Go; run by `npm run test:clients`. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { decodeJwt } from 'jose'
import { browserOf } from '../support/clients/browser.ts'
import { buildGo, missing } from '../support/clients/toolchains.ts'
import { approveDevice } from '../support/login/device.ts'
import { ADMIN, type Service, startService, temporaryFolder } from '../support/service.ts'

const skip = await missing('go', 'version')

/** kubectl says with it which version of the response it reads. */
const KUBERNETES_EXEC_INFO = JSON.stringify({
  kind: 'ExecCredential',
  apiVersion: 'client.authentication.k8s.io/v1beta1',
  spec: { interactive: true },
})

/** Runs it as kubectl does; a user visits the address that it prints. Returns the ID token of the credential. */
async function getToken(
  t: TestContext,
  command: readonly string[],
  visit: (url: string) => Promise<unknown> = async () => assert.fail('no user is needed'),
): Promise<string> {
  const [program = '', ...args] = command
  const env = { ...process.env, KUBERNETES_EXEC_INFO }
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  let stdout = ''
  let log = ''
  let visited: Promise<unknown> | undefined
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8')
  const code = await new Promise((resolve, reject) => {
    child.stderr.on('data', (text: string) => {
      log += text
      const [, url] = /in your browser: (\S+)\s/.exec(log) ?? []
      if (url === undefined || visited !== undefined) return
      visited = visit(url)
      visited.catch(reject)
    })
    child.on('error', reject)
    child.on('close', resolve)
  })
  await visited
  assert.equal(code, 0, log)
  const { apiVersion, status } = JSON.parse(stdout)
  assert.equal(apiVersion, 'client.authentication.k8s.io/v1beta1')
  return status.token
}

test('kubelogin gets tokens for kubectl', { skip }, async (t) => {
  const folder = fileURLToPath(new URL('./kubelogin', import.meta.url))
  const program = await buildGo(folder, 'github.com/int128/kubelogin')
  for (const brand of ['service', 'openziti']) {
    const service = await startService(t, { config: { edge: { brand } } })
    const command = await commandFor(t, program, service, brand)
    const nameIn = (token: string) => decodeJwt(token)['preferred_username']

    await t.test(`with a browser of this machine, and refreshes; brand ${brand}`, async (t) => {
      const withBrowser = [...command, '--skip-open-browser', '--listen-address=127.0.0.1:0']
      const first = await getToken(t, withBrowser, async (url) => {
        const seen = await browserOf(service, ADMIN).open(url)
        assert.equal(seen.status, 200, seen.text)
      })
      assert.equal(nameIn(first), ADMIN.username)
      assert.equal(await getToken(t, withBrowser), first, 'from its cache')
      const next = await getToken(t, [...withBrowser, '--force-refresh'])
      assert.notEqual(next, first)
      assert.equal(nameIn(next), ADMIN.username)
    })

    await t.test(`with a browser of another machine; brand ${brand}`, async (t) => {
      const other = await commandFor(t, program, service, brand)
      const withCode = [...other, '--grant-type=device-code', '--skip-open-browser']
      const token = await getToken(t, withCode, (url) =>
        approveDevice(service, { userCode: new URL(url).searchParams.get('user_code') ?? '' }),
      )
      assert.equal(nameIn(token), ADMIN.username)
    })
  }
})

/** The command of docs/clients.md, with a cache of its own. */
async function commandFor(
  t: TestContext,
  program: string,
  service: Service,
  brand: string,
): Promise<readonly string[]> {
  const folder = await temporaryFolder(t)
  const caFile = join(folder, 'ca.pem')
  await writeFile(caFile, service.ca)
  return [
    program,
    'get-token',
    `--oidc-issuer-url=${service.baseUrl}/oidc`,
    `--oidc-client-id=${brand}`,
    '--oidc-extra-scope=offline_access',
    `--certificate-authority=${caFile}`,
    `--token-cache-dir=${join(folder, 'cache')}`,
  ]
}
