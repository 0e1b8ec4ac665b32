/** docs/recipes.md is run: its blocks, as they stand there, with the people that it speaks of. */
import assert from 'node:assert/strict'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { systemClock } from '../../src/base/time/clock.ts'
import { epochSeconds } from '../../src/base/time/instant.ts'
import { enrolledCertificate, inviteNew } from '../support/certificates/enrollment.ts'
import { runGuide } from '../support/guides/guide.ts'
import { copyInstalledHome } from '../support/homes/installed-home.ts'
import { newIdpKey, signJwt } from '../support/idp/external-idp.ts'
import { enrolledPerson } from '../support/login/authenticator-app.ts'
import { beginLogin, submitPassword } from '../support/login/login.ts'
import { administrate } from '../support/management.ts'
import { listenUntilEnd } from '../support/ports.ts'
import { changeConfig } from '../support/process/child-home.ts'
import { ADMIN, type Service, startService, temporaryFolder } from '../support/service.ts'

const AUDIT_LOG = '/var/log/latchkey/audit.log'
const ACTIONS = 'https://token.actions.githubusercontent.com'

test('the lines of docs/recipes.md do what they say', async (t) => {
  const folder = await temporaryFolder(t)
  const home = join(folder, 'latchkey-data')
  const log = join(folder, 'audit.log')
  await copyInstalledHome(home)
  const { edge } = await configuredBy('docs/recipes.md')
  assert.equal(edge.audit.output, AUDIT_LOG)
  await changeConfig(home, (config) => {
    config.edge = { ...config.edge, audit: { ...edge.audit, output: log } }
  })
  const service = await startService(t, { home })
  await introduce(service)
  await mkdir(join(folder, 'node_modules'))
  const jose = fileURLToPath(new URL('../../node_modules/jose', import.meta.url))
  await symlink(jose, join(folder, 'node_modules', 'jose'))
  const actions = await startActions(t)

  await runGuide(t, 'docs/recipes.md', {
    cwd: folder,
    typed: `${ADMIN.password}\n`,
    environment: {
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'a token for the token',
      ACTIONS_ID_TOKEN_REQUEST_URL: `${actions}/token?api-version=2.0`,
    },
    replace: {
      'localhost:1280': new URL(service.baseUrl).host,
      [`${ACTIONS}/.well-known/jwks`]: `${actions}/.well-known/jwks`,
      [AUDIT_LOG]: log,
    },
  })
})

/** The one block of configuration of a page. */
async function configuredBy(page: string) {
  const text = await readFile(new URL(`../../${page}`, import.meta.url), 'utf8')
  return parse(/```yaml\n([\s\S]*?)```/.exec(text)?.[1] ?? '')
}

/** Those that the page speaks of. */
async function introduce(service: Service): Promise<void> {
  const admin = await administrate(service)
  await enrolledPerson(service, admin, { name: 'alice' })

  const primary = { updb: { allowed: true, maxAttempts: 1 } }
  const policy = await admin.createPolicy({ primary })
  const password = 'a password of bob'
  await admin.createIdentity({ name: 'bob', password, policy })
  for (const given of ['mistyped', password]) {
    const { authRequestId } = await beginLogin(service)
    const person = { username: 'bob', password: given }
    assert.equal((await submitPassword(service, authRequestId, person)).status, 401)
  }

  const { token } = await inviteNew(admin, { ott: true }, { name: 'laptop-7' })
  await enrolledCertificate(service, token)
}

/** What a job of GitHub Actions talks to, and its keys. */
async function startActions(t: TestContext): Promise<string> {
  const key = await newIdpKey('a-key', 'RS256')
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    response.setHeader('content-type', 'application/json')
    if (pathname === '/.well-known/jwks') return response.end(JSON.stringify({ keys: [key.jwk] }))
    assert.equal(request.headers.authorization, 'bearer a token for the token')
    const now = epochSeconds(systemClock.now())
    const value = await signJwt(key, {
      iss: ACTIONS,
      aud: searchParams.get('audience'),
      sub: 'repo:example/site:ref:refs/heads/main',
      iat: now,
      exp: now + 300,
    })
    return response.end(JSON.stringify({ count: 1, value }))
  })
  return `http://127.0.0.1:${await listenUntilEnd(t, server)}`
}
