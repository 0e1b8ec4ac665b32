/** Spans as a collector gets them from a running service: D-139, D-39, R108. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { jwtLogin, registerIdp } from '../../support/idp/jwt-login.ts'
import {
  answerOf,
  beginLogin,
  exchange,
  REDIRECT_URI,
  submitPassword,
} from '../../support/login/login.ts'
import { administrate } from '../../support/management.ts'
import {
  attributeOf,
  type CollectedSpan,
  startCollector,
} from '../../support/monitoring/collector.ts'
import { startMonitored } from '../../support/monitoring/monitoring.ts'
import { sampleOf } from '../../support/monitoring/prometheus-text.ts'
import { ADMIN, startService } from '../../support/service.ts'

const SERVER = 2
const CLIENT = 3
const INTERNAL = 1
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'

const shapeOf = ({ name, kind }: CollectedSpan) => [name, kind]

test('a request is a span, and what it waits for are spans below it', async (t) => {
  const collector = await startCollector(t)
  const service = await startService(t, {
    config: {
      telemetry: {
        traces: { endpoint: collector.endpoint, headers: { authorization: `Bearer \${TOKEN}` } },
      },
    },
    environment: { TOKEN: 'collector-token' },
  })

  await t.test('a login hashes the password, then commits', async () => {
    const { authRequestId } = await beginLogin(service)
    const reply = await submitPassword(service, authRequestId, ADMIN)
    assert.equal(reply.status, 302)
    const [root, ...below] = await collector.traceOf(reply.headers['x-request-id'])
    assert.ok(root !== undefined)
    assert.deepEqual(shapeOf(root), ['POST /oidc/login/username', SERVER])
    assert.equal(root.parentSpanId, undefined)
    assert.match(root.traceId, /^[0-9a-f]{32}$/)
    assert.deepEqual(
      Object.fromEntries(root.attributes.map(({ key }) => [key, attributeOf(root, key)])),
      {
        'http.request.method': 'POST',
        'http.route': '/oidc/login/username',
        'url.scheme': 'https',
        'network.protocol.version': '1.1',
        'latchkey.request_id': reply.headers['x-request-id'],
        'http.response.status_code': '302',
      },
    )
    assert.deepEqual(root.status, {})
    assert.deepEqual(below.map(shapeOf)[0], ['password hashing', INTERNAL])
    const commits = below.filter(({ name }) => name === 'transaction')
    assert.ok(commits.length > 0)
    for (const span of commits) {
      assert.equal(span.kind, CLIENT)
      assert.equal(attributeOf(span, 'db.system.name'), 'sqlite')
    }
    for (const span of below) {
      assert.equal(span.traceId, root.traceId)
      assert.equal(span.parentSpanId, root.spanId)
      assert.ok(BigInt(span.startTimeUnixNano) >= BigInt(root.startTimeUnixNano) - 2_000_000n)
      assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano))
    }
  })

  await t.test('a fetch of keys is a span with the host, and not with the path', async () => {
    const admin = await administrate(service)
    const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example/' })
    const reply = await jwtLogin(service, await idp.jwt('nobody'))
    const spans = await collector.traceOf(reply.headers['x-request-id'])
    const fetch = spans.find(({ name }) => name === 'GET')
    assert.ok(fetch !== undefined)
    assert.equal(fetch.kind, CLIENT)
    assert.equal(fetch.parentSpanId, spans[0]?.spanId)
    assert.equal(attributeOf(fetch, 'server.address'), '127.0.0.1')
    assert.equal(JSON.stringify(fetch).includes('jwks'), false)
  })

  await t.test('a refusal has its code, and is not a failure of the service', async () => {
    const reply = await service.call('/edge/client/v1/current-identity')
    const [span] = await collector.traceOf(reply.headers['x-request-id'])
    assert.ok(span !== undefined)
    assert.equal(attributeOf(span, 'http.response.status_code'), '401')
    assert.equal(attributeOf(span, 'latchkey.error_code'), 'UNAUTHORIZED')
    assert.deepEqual(span.status, {})
  })

  await t.test('an address that is not bound has no route', async () => {
    const reply = await service.call('/no/such/place')
    const [span] = await collector.traceOf(reply.headers['x-request-id'])
    assert.ok(span !== undefined)
    assert.equal(span.name, 'GET')
    assert.equal(attributeOf(span, 'http.route'), undefined)
  })

  await t.test('the trace of a caller goes on; one that is malformed does not', async () => {
    const traceparent = `00-${TRACE}-${CALLER}-00`
    const reply = await service.call('/version', { headers: { traceparent } })
    const [span] = await collector.traceOf(reply.headers['x-request-id'])
    assert.deepEqual([span?.traceId, span?.parentSpanId], [TRACE, CALLER])

    for (const bad of [[traceparent, traceparent], `${traceparent}-x`, 'planted']) {
      const reply = await service.call('/version', { headers: { traceparent: bad } })
      assert.equal(reply.status, 200)
      const [span] = await collector.traceOf(reply.headers['x-request-id'])
      assert.notEqual(span?.traceId, TRACE)
      assert.equal(span?.parentSpanId, undefined)
    }
  })

  await t.test('the collector gets the configured credential', () => {
    assert.deepEqual(new Set(collector.authorizations), new Set(['Bearer collector-token']))
  })
})

test('R108: nothing that a caller sent, and nothing secret, is in a span', async (t) => {
  // Attack: traces leave the house. Whoever reads them must not find a credential, a code, a token or a name in them.
  const collector = await startCollector(t)
  const service = await startService(t, {
    config: { telemetry: { traces: { endpoint: collector.endpoint } } },
  })
  const marker = 'planted-marker'
  const { verifier, authRequestId } = await beginLogin(service, { state: marker, nonce: marker })
  const headers = {
    'user-agent': marker,
    cookie: marker,
    authorization: `Bearer ${marker}`,
    'zt-session': marker,
    tracestate: `${marker}=1`,
    baggage: `user=${marker}`,
    'x-request-id': marker,
  }
  await submitPassword(service, authRequestId, { username: marker, password: marker })
  await service.call(`/oidc/login/username?authRequestID=${marker}&x=${marker}`, { headers })
  await service.call(`/edge/client/v1/current-api-session/certificates/${marker}`, { headers })
  await service.call(`/${marker}`, { method: 'POST', body: marker, headers })
  const answer = answerOf(await submitPassword(service, authRequestId, ADMIN))
  const code = answer.get('code') ?? ''
  const tokens = await exchange(service, {
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
  })
  assert.equal(tokens.status, 200, tokens.text)
  const { access_token, id_token } = tokens.json()
  await collector.traceOf(tokens.headers['x-request-id'])
  await service.stop()

  const sent = collector.bodies.join('\n')
  assert.ok(collector.spans().length > 8)
  const secrets = [marker, authRequestId, code, verifier, access_token, id_token, ADMIN.password]
  for (const secret of [...secrets, service.home, `"${ADMIN.username}"`]) {
    assert.ok(secret.length > 4)
    assert.equal(sent.includes(secret), false, secret)
  }
})

test('a stop hands over what has not been sent yet', async (t) => {
  const collector = await startCollector(t)
  const service = await startService(t, {
    config: { telemetry: { traces: { endpoint: collector.endpoint } } },
  })
  const { headers } = await service.call('/version')
  await service.stop()
  const found = collector
    .spans()
    .some((span) => attributeOf(span, 'latchkey.request_id') === headers['x-request-id'])
  assert.equal(found, true)
})

test('machines that ask all the time are not traced', async (t) => {
  const collector = await startCollector(t)
  const { service, ask } = await startMonitored(t, {
    config: { telemetry: { traces: { endpoint: collector.endpoint } } },
  })
  for (const path of ['/health-checks', '/health-checks/live', '/metrics']) await ask(path)
  await service.call('/version')
  await service.stop()
  assert.deepEqual(
    collector.spans().map(({ name }) => name),
    ['GET /version'],
  )
})

test('with the ratio 0 nothing is sent, whatever a caller asks for', async (t) => {
  const collector = await startCollector(t)
  const service = await startService(t, {
    config: { telemetry: { traces: { endpoint: collector.endpoint, sampleRatio: 0 } } },
  })
  for (let i = 0; i < 20; i++) {
    await service.call('/version', { headers: { traceparent: `00-${TRACE}-${CALLER}-01` } })
  }
  await service.stop()
  assert.deepEqual(collector.bodies, [])
})

const BAD_COLLECTORS = {
  'is not there': async () => 'http://127.0.0.1:1/v1/traces',
  'never answers': async (t: Parameters<typeof startCollector>[0]) =>
    (await startCollector(t, () => {})).endpoint,
  'answers 503': async (t: Parameters<typeof startCollector>[0]) =>
    (await startCollector(t, (_, response) => response.writeHead(503).end())).endpoint,
}

/** Code that waits for the collector would wait forever. */
const PATIENT = { timeout: 120_000 }

for (const [what, start] of Object.entries(BAD_COLLECTORS)) {
  test(`a collector that ${what} harms nothing`, PATIENT, async (t) => {
    const endpoint = await start(t)
    const { service, scrape } = await startMonitored(t, {
      config: { telemetry: { traces: { endpoint } } },
    })
    for (let i = 0; i < 600; i++) assert.equal((await service.call('/version')).status, 200)
    if (what !== 'never answers') {
      await eventually(async () => {
        const metrics = await scrape()
        return (
          sampleOf(metrics, 'latchkey_trace_spans_total', { outcome: 'lost' }) >= 512 || undefined
        )
      }, 'the count of what is lost')
      const lines = service.log.filter(({ msg }) => /^traces cannot be exported/.test(msg))
      assert.equal(lines.length, 1)
      const reason =
        what === 'answers 503'
          ? 'the answer has the status 503'
          : 'the host could not be reached (ECONNREFUSED)'
      assert.equal(lines[0].reason, reason)
    }
    await service.stop()
  })
}
