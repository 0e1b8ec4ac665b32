/** `gateway.yml` and the command line, together and alone. D-390. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { GATEWAY_PAGE, gatewayPage } from '../../../scripts/write-docs.ts'
import { hours } from '../../base/time/duration.ts'
import { allKeys } from '../../config/keys.ts'
import { ConfigProblems } from '../../config/problems.ts'
import { type GivenSettings, loadGatewaySettings } from './load.ts'
import { GATEWAY_KEYS } from './schema.ts'

const FILE = `
v: 1
controller: https://id.example.com:1280
listen: 0.0.0.0:8443
upstreams:
  - name: grafana
    url: http://127.0.0.1:3000
    hosts: [grafana.EXAMPLE.com]
    path: /dashboards
  - url: tcp://db.internal:5432
`

async function load(t: TestContext, text: string | undefined, given: GivenSettings = {}) {
  const home = await mkdtemp(join(tmpdir(), 'latchkey-gateway-'))
  t.after(() => rm(home, { recursive: true }))
  const file = text === undefined ? undefined : join(home, 'gateway.yml')
  if (file !== undefined) await writeFile(file, text ?? '')
  const variable = (name: string) => (name === 'PORT' ? '4000' : undefined)
  const loaded = await loadGatewaySettings({ home, file, given, variable })
  return { home, ...loaded }
}

async function problems(t: TestContext, text: string, given: GivenSettings = {}) {
  const error = await load(t, text, given).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ConfigProblems)
  return error.problems.map(({ path, message }) => `${path}: ${message}`)
}

test('docs/gateway.md is what npm run docs writes', async () => {
  assert.equal(await readFile(GATEWAY_PAGE, 'utf8'), gatewayPage())
})

test('every key of a gateway has a type, a rule that is a sentence, and a default, an example or a duty', () => {
  for (const { path, facts, usual, mayBeLeftOut, children } of allKeys(GATEWAY_KEYS)) {
    assert.notEqual(facts.type, '', path)
    assert.match(facts.rule, /^[A-Z`].*\.$/, path)
    const isShown = !mayBeLeftOut || usual !== undefined || facts.example !== undefined
    assert.ok(isShown || children.length > 0, path)
  }
})

test('a file of a gateway is read with its defaults', async (t) => {
  const { settings } = await load(t, FILE)
  assert.deepEqual(settings, {
    controller: 'https://id.example.com:1280',
    listen: { host: '0.0.0.0', port: 8443 },
    upstreams: [
      {
        name: 'grafana',
        to: { kind: 'http', at: { host: '127.0.0.1', port: 3000 } },
        hosts: ['grafana.example.com'],
        path: '/dashboards',
        require: {},
        signIn: true,
      },
      {
        name: 'db-internal',
        to: { kind: 'tcp', at: { host: 'db.internal', port: 5432 } },
        hosts: [],
        path: '/',
        require: {},
        signIn: true,
      },
    ],
    log: { level: 'info', format: 'auto' },
  })
})

test('paths are relative to the home, and variables are filled in', async (t) => {
  const { home, settings } = await load(
    t,
    `${FILE.replace('3000', `\${PORT}`)}certificate: { cert: fullchain.pem, key: /etc/key.pem }\n`,
  )
  assert.deepEqual(settings.certificate, { cert: join(home, 'fullchain.pem'), key: '/etc/key.pem' })
  assert.equal(settings.upstreams[0]?.to.at.port, 4000)
})

test('options win over the file, and suffice without one', async (t) => {
  const given = {
    controller: 'https://other.example.com',
    listen: '127.0.0.1:0',
    upstreams: [{ name: 'one', url: 'http://localhost' }],
  }
  for (const text of [FILE, undefined]) {
    const { settings } = await load(t, text, given)
    assert.equal(settings.controller, given.controller)
    assert.deepEqual(settings.listen, { host: '127.0.0.1', port: 0 })
    assert.deepEqual(
      settings.upstreams.map(({ name, to }) => [name, to]),
      [['one', { kind: 'http', at: { host: 'localhost', port: 80 } }]],
    )
  }
})

test('a TCP upstream may have an idle limit, which must be one', async (t) => {
  const withIdle = (idle: string) => `${FILE}    idle: ${idle}\n`
  const { settings } = await load(t, withIdle('8h'))
  assert.equal(settings.upstreams[1]?.idle, hours(8))
  for (const [given, problem] of [
    ['0s', '"0s" must be positive'],
    ['25d', '"25d" is too long; 24d at most'],
    ['soon', '"soon" is not a duration; write it like 90s, 30m, 24h, 1h30m or 7d'],
  ] as const) {
    assert.deepEqual(await problems(t, withIdle(given)), [`upstreams[1].idle: ${problem}`])
  }
  assert.deepEqual(await problems(t, `${FILE}  - { name: web, url: 'http://a:1', idle: 1h }\n`), [
    'upstreams[2].idle: is only for tcp://HOST:PORT',
  ])
})

test('every problem of a file is named at once, in words of the file', async (t) => {
  const text = `
v: 1
controler: https://id.example.com
listen: '8443'
upstreams:
  - url: https://127.0.0.1:3000
  - { url: 'tcp://db', name: a b }
  - { url: 'http://x/y', path: dashboards }
  - { url: 'http://user:pass@x', path: /a/../b }
log: { level: loud }
`
  assert.deepEqual(await problems(t, text), [
    'controller: is missing',
    'listen: "8443" is not HOST:PORT; write it like id.example.com:1280 or [::1]:1280',
    'upstreams[0].url: is not http://HOST:PORT or tcp://HOST:PORT',
    'upstreams[1].name: "a b" must be 1 to 63 letters, digits or hyphens inside',
    'upstreams[1].url: is not http://HOST:PORT or tcp://HOST:PORT',
    'upstreams[2].url: is not http://HOST:PORT or tcp://HOST:PORT',
    'upstreams[2].path: "dashboards" is not a path like /grafana',
    'upstreams[3].url: is not http://HOST:PORT or tcp://HOST:PORT',
    'upstreams[3].path: "/a/../b" is not a path like /grafana',
    'log.level: must be `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
    'controler: is not a known key; did you mean controller?',
  ])
  assert.deepEqual(await problems(t, `${FILE}  - url: http://db.internal:1\n`), [
    'upstreams[2].name: "db-internal" is the name of upstreams[1] too; give each its own',
  ])
})

test('D-332: a gateway has upstreams, or forward authentication, or both', async (t) => {
  const least = 'v: 1\ncontroller: https://a\nlisten: a:1\n'
  for (const none of ['', 'upstreams: []\n']) {
    assert.deepEqual(await problems(t, least + none), [
      'upstreams: is missing; for forward authentication alone, set verify',
    ])
    const { settings } = await load(t, `${least}${none}verify: { listen: '127.0.0.1:4180' }\n`)
    assert.deepEqual(settings.upstreams, [])
    assert.equal(settings.verify?.listen?.port, 4180)
  }
})
