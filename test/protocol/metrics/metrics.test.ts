/** `/metrics`: what is counted when people log in, and what is never in it. D-138, D-46. */
import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { after, test } from 'node:test'
import { logInByCertificate, presenting } from '../../support/certificates/certificate-login.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import {
  enrollByCsr,
  enrollByPassword,
  enrolledCertificate,
  inviteNew,
} from '../../support/certificates/enrollment.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { enrolledPerson, renewal } from '../../support/certificates/renewal.ts'
import { issueCertificate, oidcSession } from '../../support/edge/live-session.ts'
import { eventually } from '../../support/eventually.ts'
import { jwtLogin, registerIdp } from '../../support/idp/jwt-login.ts'
import { legacyToken } from '../../support/login/legacy.ts'
import { beginLogin, submitPassword } from '../../support/login/login.ts'
import {
  assertRefreshRefused,
  logInOffline,
  refresh,
  refreshed,
} from '../../support/login/refresh.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { type Monitored, startMonitored } from '../../support/monitoring/monitoring.ts'
import { type Family, sampleOf } from '../../support/monitoring/prometheus-text.ts'
import { ADMIN } from '../../support/service.ts'

/** How much one series grows while something happens. */
async function growth(
  { scrape }: Monitored,
  series: readonly (readonly [string, Readonly<Record<string, string>>?])[],
  work: () => Promise<unknown>,
): Promise<readonly number[]> {
  const before = await scrape()
  await work()
  const after = await scrape()
  return series.map(
    ([name, labels]) => sampleOf(after, name, labels) - sampleOf(before, name, labels),
  )
}

const openssl = await openOpenssl()
after(() => openssl.close())

const PASSWORD = { method: 'password' }

test('logins, refreshes, certificates and fetches are counted', async (t) => {
  const monitored = await startMonitored(t)
  const { service, ask, scrape } = monitored

  await t.test('the response has the text format 0.0.4 and is not cacheable', async () => {
    const { headers } = await ask('/metrics')
    assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
    assert.equal(headers['cache-control'], 'no-store')
  })

  await t.test('a login by password, and the tokens of it', async () => {
    const grown = await growth(
      monitored,
      [
        ['latchkey_logins_total', { ...PASSWORD, outcome: 'succeeded' }],
        ['latchkey_logins_total', { ...PASSWORD, outcome: 'failed' }],
        ['latchkey_audit_events_total', { type: 'login.succeeded' }],
        ['latchkey_audit_events_total', { type: 'token.issued' }],
      ],
      () => logInOffline(service),
    )
    assert.deepEqual(grown, [1, 0, 1, 1])
  })

  await t.test('a login that fails, with its reason', async () => {
    const grown = await growth(
      monitored,
      [
        ['latchkey_logins_total', { ...PASSWORD, outcome: 'succeeded' }],
        ['latchkey_logins_total', { ...PASSWORD, outcome: 'failed' }],
        ['latchkey_login_failures_total', { reason: 'wrong-password' }],
        ['latchkey_login_failures_total', { reason: 'unknown-username' }],
      ],
      async () => {
        const { authRequestId } = await beginLogin(service)
        for (const username of [ADMIN.username, 'nobody']) {
          const reply = await submitPassword(service, authRequestId, {
            username,
            password: 'wrong',
          })
          assert.equal(reply.json().error.code, 'INVALID_AUTH')
        }
      },
    )
    assert.deepEqual(grown, [0, 2, 1, 1])
  })

  await t.test('a password that is locked', async () => {
    const admin = await administrate(service)
    const policy = await admin.createPolicy({
      primary: { updb: { allowed: true, maxAttempts: 1, lockoutDurationMinutes: 1 } },
    })
    const { username } = await admin.createIdentity({ password: 'soon to be locked', policy })
    const { authRequestId } = await beginLogin(service)
    const grown = await growth(monitored, [['latchkey_password_locks_total']], () =>
      submitPassword(service, authRequestId, { username: username ?? '', password: 'wrong' }),
    )
    assert.deepEqual(grown, [1])
  })

  await t.test('a refresh, one that is refused, and a spent token that came again', async () => {
    const first = await logInOffline(service)
    const grown = await growth(
      monitored,
      [
        ['latchkey_refreshes_total', { outcome: 'succeeded' }],
        ['latchkey_refreshes_total', { outcome: 'refused' }],
        ['latchkey_refreshes_total', { outcome: 'failed' }],
        ['latchkey_refresh_token_reuses_total'],
      ],
      async () => {
        const second = await refreshed(service, first.refresh_token)
        await refreshed(service, second.refresh_token)
        assertRefreshRefused(await refresh(service, 'lkr_unknown'))
        assertRefreshRefused(await refresh(service, first.refresh_token))
      },
    )
    assert.deepEqual(grown, [2, 2, 0, 1])
  })

  await t.test('an API session certificate', async () => {
    const session = await oidcSession(service)
    const grown = await growth(
      monitored,
      [['latchkey_certificates_issued_total', { kind: 'session' }]],
      async () => issueCertificate(session, (await makeCsr()).pem),
    )
    assert.deepEqual(grown, [1])
  })

  await t.test('a certificate that is enrolled; an enrolled password does not count', async () => {
    const admin = await administrate(service)
    const { token } = await inviteNew(admin, { ott: true })
    const chosen = await inviteNew(admin, { updb: 'chooses-a-password' })
    const grown = await growth(
      monitored,
      [
        ['latchkey_certificates_issued_total', { kind: 'enrolled' }],
        ['latchkey_certificates_issued_total', { kind: 'renewed' }],
      ],
      async () => {
        await enrolledCertificate(service, token)
        const csr = (await makeCsr()).pem
        assertRefused(await enrollByCsr(service, token, csr), 400, 'ENROLLMENT_USED')
        const credentials = { username: 'chooses-a-password', password: 'a password of my own' }
        assert.equal((await enrollByPassword(service, chosen.token, credentials)).status, 200)
      },
    )
    assert.deepEqual(grown, [1, 0])
  })

  await t.test('a certificate that is renewed', async () => {
    const admin = await administrate(service)
    const device = await enrolledPerson(service, admin, openssl)
    const { access_token } = await logInByCertificate(presenting(service, device.certificate))
    const grown = await growth(
      monitored,
      [
        ['latchkey_certificates_issued_total', { kind: 'renewed' }],
        ['latchkey_logins_total', { method: 'cert', outcome: 'succeeded' }],
      ],
      () => renewal(service, access_token, device),
    )
    assert.deepEqual(grown, [1, 0])
  })

  await t.test('a fetch of keys, a good one and a bad one', async () => {
    const admin = await administrate(service)
    const idp = await registerIdp(t, service, admin, { issuer: 'https://one.example/' })
    const down = await registerIdp(t, service, admin, { issuer: 'https://two.example/' })
    down.server.isDown = true
    const grown = await growth(
      monitored,
      [
        ['latchkey_jwks_fetches_total', { outcome: 'succeeded' }],
        ['latchkey_jwks_fetches_total', { outcome: 'failed' }],
        ['latchkey_logins_total', { method: 'ext-jwt', outcome: 'failed' }],
      ],
      async () => {
        await jwtLogin(service, await idp.jwt('nobody'))
        await jwtLogin(service, await down.jwt('nobody'))
      },
    )
    assert.deepEqual(grown, [1, 1, 2])
  })

  await t.test('requests are measured by route, method and kind of status', async () => {
    const labels = { route: '/edge/client/v1/version', method: 'GET', status: '2xx' }
    await service.call('/edge/client/v1/version')
    await scrape()
    const name = 'latchkey_request_duration_seconds'
    const grown = await growth(
      monitored,
      [
        [`${name}_count`, labels],
        [`${name}_bucket`, { ...labels, le: '+Inf' }],
      ],
      () => service.call('/edge/client/v1/version'),
    )
    assert.deepEqual(grown, [1, 1])
    const sum = sampleOf(await scrape(), `${name}_sum`, labels)
    assert.ok(sum > 0 && sum < 10, `${sum}`)
  })

  await t.test('what the process is and uses', async () => {
    const metrics = await scrape()
    assert.ok(sampleOf(metrics, 'process_cpu_seconds_total') > 0)
    assert.ok(sampleOf(metrics, 'process_resident_memory_bytes') > 1e7)
    const age = Date.now() / 1e3 - sampleOf(metrics, 'process_start_time_seconds')
    assert.ok(age > 0 && age < 3_600, `${age}`)
    assert.equal(sampleOf(metrics, 'latchkey_build_info'), 1)
    for (const check of ['store', 'ended-sessions', 'rules', 'signing-key', 'serving']) {
      assert.equal(sampleOf(metrics, 'latchkey_health_check', { check }), 1, check)
    }
    const copyAge = sampleOf(metrics, 'latchkey_ended_sessions_age_seconds')
    assert.ok(copyAge >= 0 && copyAge < 5, `${copyAge}`)
    assert.equal(sampleOf(metrics, 'latchkey_password_hashing_running'), 0)
    assert.equal(sampleOf(metrics, 'latchkey_password_hashing_queued'), 0)
    for (const quantile of ['0.5', '0.99', '1']) {
      const lag = sampleOf(metrics, 'latchkey_event_loop_lag_seconds', { quantile })
      assert.ok(lag >= 0 && lag < 60, `${lag}`)
    }
  })
})

test('live sessions are counted by kind, once in ten seconds', async (t) => {
  const { service, scrape } = await startMonitored(t)
  await logInOffline(service)
  await legacyToken(service)
  await legacyToken(service)
  const live = (metrics: ReadonlyMap<string, Family>) =>
    ['oidc', 'legacy'].map((kind) => sampleOf(metrics, 'latchkey_live_sessions', { kind }))
  assert.deepEqual(live(await scrape()), [1, 2])
  await legacyToken(service)
  assert.deepEqual(live(await scrape()), [1, 2])
})

test('a full queue for password hashing is counted', async (t) => {
  const { service, scrape } = await startMonitored(t, {
    config: { edge: { passwords: { hashing: 1, queue: 0 } } },
    hashing: 'as shipped',
  })
  const replies = await Promise.all(
    Array.from({ length: 6 }, () =>
      service.call('/edge/client/v1/authenticate?method=password', { json: ADMIN }),
    ),
  )
  const refused = replies.filter(({ status }) => status === 503)
  for (const reply of refused) assert.equal(reply.json().error.code, 'SERVER_TOO_BUSY')
  assert.ok(refused.length > 0)
  const metrics = await scrape()
  assert.equal(sampleOf(metrics, 'latchkey_password_hashing_refused_total'), refused.length)
})

test('R108: no name, id, path or method that a caller sends becomes a label', async (t) => {
  // Attack: every label that a stranger can fill is a series that all who keep the numbers carry for ever; and the
  // listener of metrics needs no credential, so that whatever is in it is told to everybody who reaches it.
  const { service, ask, scrape } = await startMonitored(t)
  const marker = 'planted-marker'
  const admin = await administrate(service)
  await admin.createIdentity({ name: `${marker}-name`, password: 'a good long password' })
  const { authRequestId } = await beginLogin(service)
  await submitPassword(service, authRequestId, { username: marker, password: `${marker}-password` })
  const series = async () =>
    [...(await scrape()).values()]
      .flatMap(({ samples }) =>
        samples.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`),
      )
      .toSorted()

  await service.call('/nothing-1')
  await service.call('/edge/client/v1/version', { method: 'PURGE' })
  await service.call('/edge/client/v1/current-api-session/certificates/1')
  await scrape()
  // These come once there is something to measure.
  await eventually(
    async () => (await series()).find((name) => name.startsWith('latchkey_event_loop_lag_seconds')),
    'the lag of the event loop',
  )
  const before = await series()
  for (let i = 0; i < 50; i++) {
    await service.call(`/${marker}-${i}?${marker}=${i}`, { headers: { 'user-agent': marker } })
    await service.call(`/edge/client/v1/current-api-session/certificates/${marker}-${i}`)
  }
  for (const method of METHODS.filter((one) => !KNOWN.includes(one))) {
    await service.call('/edge/client/v1/version', { method })
  }
  assert.deepEqual(await series(), before)

  const { text } = await ask('/metrics')
  for (const secret of [marker, authRequestId, `"${ADMIN.username}"`, service.home]) {
    assert.equal(text.includes(secret), false, secret)
  }
})

/** CONNECT never gets as far as a route. */
const KNOWN = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT']
