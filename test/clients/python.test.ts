/**
 * Clients in Python: the real libziti from the wheel of OpenZiti (D-314), and Authlib, which checks the discovery document
 * more strictly than others. Needs Python and pip; run by `npm run test:clients`.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { preparePython, runWith } from '../support/clients/toolchains.ts'
import { OPENZITI } from '../support/login/openziti.ts'
import { administrateOpenZiti } from '../support/login/openziti-administrator.ts'
import { ADMIN, startService, temporaryFolder } from '../support/service.ts'

const PROGRAM = fileURLToPath(new URL('./python/client.py', import.meta.url))
const python = await preparePython(['openziti==0.6.0', 'authlib==1.6.5', 'requests==2.32.5'])
const skip = python === undefined ? 'python3 with pip is not installed' : false

for (const brand of ['service', 'openziti']) {
  test(`Authlib logs in and refreshes with the brand ${brand}`, { skip }, async (t) => {
    const service = await startService(t, { config: { edge: { brand } } })
    const caFile = join(await temporaryFolder(t), 'ca.pem')
    await writeFile(caFile, service.ca)
    const { code, printed, log } = await runWith(python ?? '', [PROGRAM], {
      case: 'authlib',
      caFile,
      issuer: `${service.baseUrl}/oidc`,
      clientId: brand,
      ...ADMIN,
    })
    assert.equal(code, 0, log)
    assert.deepEqual(printed, { name: 'admin', alg: 'RS256', isRotated: true })
  })
}

test('libziti enrolls, logs in and reads its services', { skip }, async (t) => {
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  // libziti 0.29 verifies enrollment JWTs of RSA keys only.
  const ca = await openssl.makeCa({ key: 'rsa-2048' })
  const extensions = ['subjectAltName=DNS:localhost', 'extendedKeyUsage=serverAuth']
  const server = await openssl.make({ issuer: ca, key: 'rsa-2048', extensions })
  const home = await temporaryFolder(t)
  await mkdir(join(home, 'given'))
  await writeFile(join(home, 'given/server.pem'), server.pem)
  await writeFile(join(home, 'given/server.key'), server.keyPem, { mode: 0o600 })
  await writeFile(join(home, 'given/ca.pem'), ca.pem)
  const identity = { cert: 'given/server.pem', key: 'given/server.key', ca: 'given/ca.pem' }
  const service = await startService(t, { home, config: { ...OPENZITI, identity } })
  const admin = await administrateOpenZiti(service)
  const device = { name: 'tunneler', type: 'Device', isAdmin: false, enrollment: { ott: true } }
  const { id } = (await admin.call('POST', '/identities', device)).json().data
  const { jwt } = (await admin.get(`/identities/${id}`)).enrollment.ott

  const folder = await temporaryFolder(t)
  const env = { ...process.env, ZITI_LOG: '4' }
  const child = spawn(python ?? '', [PROGRAM], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  child.stdin.end(JSON.stringify({ case: 'libziti', jwt, folder }))
  let log = ''
  await new Promise<void>((resolve, reject) => {
    const read = (text: string) => {
      log += text
      // The last thing that it does after a login: without the header ziti-instance-id it crashes there.
      if (log.includes('no change in posture data')) resolve()
    }
    child.stdout.setEncoding('utf8').on('data', read)
    child.stderr.setEncoding('utf8').on('data', read)
    child.on('close', () => reject(new Error(log)))
  })
  const sessions = await admin.get(`/identities/${id}/api-sessions`)
  assert.equal(sessions.length, 1)
})
