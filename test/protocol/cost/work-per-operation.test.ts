/**
 * What each operation costs in counts, never in times: commits, statements, signatures that are checked, and certificates
 * that are parsed. A change of the design that makes an operation more expensive fails here. D-279, D-280, D-282, D-283.
 */
// Isolated: it counts what the whole process does.
import assert from 'node:assert/strict'
import { StatementSync } from 'node:sqlite'
import { after, type TestContext, test } from 'node:test'
import { Certificate } from 'pkijs'
import {
  logInByCertificate,
  presenting,
  registerCa,
} from '../../support/certificates/certificate-login.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { logInByJwt, registerIdp } from '../../support/idp/jwt-login.ts'
import { bearer } from '../../support/login/login.ts'
import { logInOffline, refreshed } from '../../support/login/refresh.ts'
import { administrate } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

/** The tables of logins and sessions. The copies in memory, the checks of health and metrics read others, or all rows. */
const TABLES =
  /"(?:refresh_tokens|api_sessions|identities|authenticators|auth_requests|events|totp_enrollments|password_failures|session_certificates)"/
const BACKGROUND = /group by|limit|^delete/

const FRAME = /^(?:begin|commit)/

interface Work {
  readonly commits: number
  readonly statements: readonly string[]
  readonly verifications: number
  readonly parsedCertificates: number
}

function watch(t: TestContext) {
  const run: string[] = []
  for (const method of ['all', 'run'] as const) {
    const original = StatementSync.prototype[method]
    t.mock.method(
      StatementSync.prototype,
      method,
      function (this: StatementSync, ...args: never[]) {
        run.push(this.sourceSQL)
        return Reflect.apply(original, this, args)
      },
    )
  }
  const verify = t.mock.method(crypto.subtle, 'verify')
  const parse = t.mock.method(Certificate, 'fromBER')
  return async (operation: () => Promise<unknown>): Promise<Work> => {
    run.length = 0
    verify.mock.resetCalls()
    parse.mock.resetCalls()
    await operation()
    const own = run.filter((sql) => FRAME.test(sql) || (TABLES.test(sql) && !BACKGROUND.test(sql)))
    const writes = own.filter((sql) => /^(?:insert|update|delete)/i.test(sql))
    const frames = own.filter((sql) => FRAME.test(sql))
    const commits = frames.filter((sql) => /^commit/i.test(sql)).length
    assert.ok(writes.length === 0 || commits > 0, 'no write outside a transaction')
    return {
      commits,
      statements: own.filter((sql) => !frames.includes(sql)).map(shortened),
      verifications: verify.mock.callCount(),
      parsedCertificates: parse.mock.callCount(),
    }
  }
}

/** `select identities`. What a statement reads in parentheses is a part of it. */
function shortened(sql: string): string {
  const [verb = ''] = sql.split(' ', 1)
  let outer = sql
  for (let inner = ''; inner !== outer; outer = outer.replace(/\([^()]*\)/g, '')) inner = outer
  const [, table = ''] = /(?:from|into|update) "(\w+)"/.exec(outer) ?? []
  return `${verb} ${table}`
}

test('a call reads its identity and checks no signature again', async (t) => {
  const service = await startService(t)
  const { access_token } = await logInOffline(service)
  const work = watch(t)
  const call = () => service.call('/edge/client/v1/current-identity', bearer(access_token))
  const first = await work(call)
  assert.equal(first.verifications, 1)
  assert.deepEqual(await work(call), {
    commits: 0,
    statements: ['select identities'],
    verifications: 0,
    parsedCertificates: 0,
  })
})

test('a refresh is one commit', async (t) => {
  const service = await startService(t)
  const { refresh_token } = await logInOffline(service)
  const work = watch(t)
  assert.deepEqual(await work(() => refreshed(service, refresh_token)), {
    commits: 1,
    statements: [
      'select refresh_tokens',
      'select identities',
      'select authenticators',
      'update api_sessions',
      'update refresh_tokens',
      'insert refresh_tokens',
      'insert events',
    ],
    verifications: 0,
    parsedCertificates: 0,
  })
})

test('a session certificate is one commit', async (t) => {
  const service = await startService(t)
  const { access_token } = await logInOffline(service)
  const { pem: csr } = await makeCsr()
  const work = watch(t)
  const path = '/edge/client/v1/current-api-session/certificates'
  const issue = async () => {
    const reply = await service.call(path, { ...bearer(access_token), json: { csr } })
    assert.equal(reply.status, 201, reply.text)
  }
  assert.deepEqual(await second(work, issue), {
    commits: 1,
    statements: [
      'select api_sessions',
      'select session_certificates',
      'insert session_certificates',
      'insert events',
    ],
    verifications: 0,
    parsedCertificates: 0,
  })
})

/** Returns the work of the second time: what becomes known at the first is not part of it. */
async function second(
  work: ReturnType<typeof watch>,
  login: () => Promise<unknown>,
): Promise<Work> {
  await login()
  return work(login)
}

const STEP = ['select totp_enrollments', 'insert auth_requests', 'insert events']
const EXCHANGE = [
  'select auth_requests',
  'select identities',
  'select authenticators',
  'select identities',
]
const SESSION = ['update auth_requests', 'update identities', 'insert api_sessions']

test('a login is two commits: one for its code, one for its session', async (t) => {
  const openssl = await openOpenssl()
  after(() => openssl.close())
  const service = await startService(t)
  const admin = await administrate(service)
  const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example' })
  const ca = await openssl.makeCa({ subject: '/CN=Partner' })
  await registerCa(admin, openssl, ca)
  const leaf = await openssl.makeLeaf(ca)
  await admin.createIdentity({ certPem: leaf.pem, externalId: 'zoe@example.org' })
  const jwt = await idp.jwt('zoe@example.org')
  const work = watch(t)

  await t.test('by external JWT, with one signature to check', async () => {
    assert.deepEqual(await second(work, () => logInByJwt(service, jwt)), {
      commits: 2,
      statements: [
        'select auth_requests',
        'select identities',
        ...STEP,
        ...EXCHANGE,
        ...SESSION,
        'insert events',
      ],
      verifications: 1,
      parsedCertificates: 0,
    })
  })

  await t.test('by certificate, with none to parse', async () => {
    const client = presenting(service, leaf)
    assert.deepEqual(await second(work, () => logInByCertificate(client)), {
      commits: 2,
      statements: [
        'select auth_requests',
        'select authenticators',
        'select identities',
        ...STEP,
        ...EXCHANGE,
        'update authenticators',
        ...SESSION,
        'insert events',
      ],
      verifications: 0,
      parsedCertificates: 0,
    })
  })

  await t.test('by password, with nothing to reset', async () => {
    assert.deepEqual(await second(work, () => logInOffline(service)), {
      commits: 2,
      statements: [
        'select auth_requests',
        'select authenticators',
        'select identities',
        'select authenticators',
        'select password_failures',
        ...STEP,
        ...EXCHANGE,
        'update authenticators',
        ...SESSION,
        'insert refresh_tokens',
        'insert events',
      ],
      verifications: 0,
      parsedCertificates: 0,
    })
  })
})
