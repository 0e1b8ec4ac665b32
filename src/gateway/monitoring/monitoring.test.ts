/** Health and metrics of a gateway: D-397. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { Server } from 'node:net'
import { test } from 'node:test'
import { openOpenssl } from '../../../test/support/certificates/openssl.ts'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { days } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import { createGatewayMetrics, REASONS } from './gateway-metrics.ts'
import { startMonitoring } from './monitoring.ts'

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

test('health, readiness and metrics follow the gateway', async (t) => {
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const { pem: cert } = await openssl.makeCa({ subject: '/CN=any' })
  const clock = new ManualClock()
  let isCutOff = true
  const router = { isCutOff: () => isCutOff }
  const inUse = () => ({ identity: { cert }, listener: { notAfter: plus(clock.now(), days(1)) } })
  const metrics = createGatewayMetrics({ router, clock, inUse })
  t.after(() => metrics.stop())
  const load = () => ({ open: 3, refused: 2, displaced: 0, most: 100, tunnels: 1 })
  metrics.follow({ load })
  const listen = { host: '127.0.0.1', port: 0 }
  const monitoring = await startMonitoring({ listen }, { router, metrics, log: SILENT })
  t.after(() => monitoring.stop())
  const get = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://127.0.0.1:${monitoring.port}${path}`, { method })
    return { status: answer.status, text: await answer.text() }
  }

  assert.equal((await get('/healthz')).status, 200)
  assert.deepEqual(await get('/readyz'), { status: 503, text: 'not connected to the controller\n' })
  isCutOff = false
  assert.equal((await get('/readyz?x')).status, 200)
  assert.equal((await get('/healthz', 'POST')).status, 405)
  assert.equal((await get('/')).status, 404)

  metrics.onRequest({ status: 200, code: undefined, isPassed: true, reason: undefined })
  metrics.onRequest({ status: 302, code: undefined, isPassed: false, reason: undefined })
  metrics.onRequest({ status: 401, code: 'UNAUTHORIZED', isPassed: false, reason: 'session-ended' })
  metrics.onRequest({ status: 403, code: 'FORBIDDEN', isPassed: false, reason: 'anything else' })
  metrics.onRequest({ status: 502, code: 'BAD_GATEWAY', isPassed: true, reason: undefined })
  metrics.onRequest({ status: 404, code: 'NO_UPSTREAM', isPassed: false, reason: undefined })
  const { text } = await get('/metrics')
  for (const line of [
    'latchkey_gateway_requests_total{outcome="passed"} 1',
    'latchkey_gateway_requests_total{outcome="answered"} 1',
    'latchkey_gateway_requests_total{outcome="refused"} 2',
    'latchkey_gateway_requests_total{outcome="failed"} 1',
    'latchkey_gateway_requests_total{outcome="invalid"} 1',
    'latchkey_gateway_refusals_total{reason="session-ended"} 1',
    'latchkey_gateway_refusals_total{reason="other"} 1',
    'latchkey_gateway_upstream_errors_total{code="BAD_GATEWAY"} 1',
    'latchkey_gateway_upstream_errors_total{code="GATEWAY_TIMEOUT"} 0',
    'latchkey_gateway_connections 3',
    'latchkey_gateway_tunnels 1',
    'latchkey_gateway_refused_connections_total 2',
    'latchkey_gateway_feed_connected 1',
    'latchkey_gateway_certificate_expiry_seconds{certificate="listener"} 86400',
  ]) {
    assert.ok(text.includes(`${line}\n`), line)
  }
  monitoring.drain()
  assert.deepEqual(await get('/readyz'), { status: 503, text: 'draining\n' })
  assert.equal((await get('/healthz')).status, 200)
})

test('every reason of a refusal has a label', async () => {
  const source = await readFile(new URL('../../router/check.ts', import.meta.url), 'utf8')
  const [, union = ''] = /export type RefusalReason =([\s\S]*?)\n\n/.exec(source) ?? []
  const reasons = [...union.matchAll(/\| '([a-z-]+)'/g)].map(([, reason]) => reason)
  assert.ok(reasons.length > 10)
  assert.deepEqual(
    reasons.filter((reason) => !REASONS.some((one) => one === reason)),
    [],
  )
})

test('health still answers after connections that the system could not accept', async (t) => {
  const listen = t.mock.method(Server.prototype, 'listen')
  const metrics = { render: async () => '', contentType: 'text/plain' }
  const warnings: unknown[] = []
  const log = { ...SILENT, warn: (about: object) => void warnings.push(about) }
  const monitoring = await startMonitoring(
    { listen: { host: '127.0.0.1', port: 0 } },
    { router: { isCutOff: () => false }, metrics, log },
  )
  t.after(() => monitoring.stop())
  const server = listen.mock.calls[0]?.this as Server
  for (let i = 0; i < 2; i++) server.emit('error', new Error('accept ENOMEM'))
  assert.deepEqual(warnings, [{ reason: 'accept ENOMEM' }, { reason: 'accept ENOMEM' }])
  const { status } = await fetch(`http://127.0.0.1:${monitoring.port}/healthz`)
  assert.equal(status, 200)
})
