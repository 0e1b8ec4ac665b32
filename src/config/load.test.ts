/**
 * From a file to the checked configuration. What is refused is in the tests of refusals. D-43,
 * D-46.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { PAGE } from '../../scripts/write-docs.ts'
import {
  configHome,
  FILE,
  LISTENER,
  loadFile,
  OTHER,
  problemsOf,
} from '../../test/support/process/config-home.ts'
import { days, hours, minutes, seconds } from '../base/time/duration.ts'
import { DEFAULT_REDIRECT_PATTERNS } from '../protocol/redirect-uri.ts'
import { readEnvironment } from './environment.ts'
import { CONFIG_FILE, loadConfig } from './load.ts'

test('a file with only what is required gets every default', async (t) => {
  const loaded = await loadFile(t, FILE)
  assert.deepEqual(loaded.adjustments, [])
  // What the file says, for people: shown/settings.test.ts.
  const { settings, ...config } = loaded.config
  const { home } = config
  assert.deepEqual(config, {
    home,
    db: { kind: 'sqlite', path: join(home, 'latchkey.db') },
    workers: 'auto',
    secret: { kind: 'file', path: join(home, 'secret') },
    compatibility: 'none',
    listeners: [
      {
        name: 'one',
        bindPoints: [
          {
            interface: { host: '127.0.0.1', port: 1280 },
            address: { host: 'localhost', port: 1280 },
          },
        ],
        tls: { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' },
        strictTransportSecurity: 'auto',
        timeouts: {
          header: seconds(10),
          request: seconds(30),
          idle: seconds(60),
          write: seconds(30),
        },
        apis: [
          { binding: 'edge-client' },
          {
            binding: 'edge-oidc',
            redirectPatterns: DEFAULT_REDIRECT_PATTERNS,
            postLogoutPatterns: DEFAULT_REDIRECT_PATTERNS,
          },
        ],
      },
    ],
    brand: 'service',
    trustDomain: 'latchkey',
    api: {
      address: undefined,
      corsOrigins: [],
      sessionTimeout: minutes(30),
      sessionCertificateDuration: hours(12),
    },
    tokens: {
      accessTokenDuration: minutes(30),
      idTokenDuration: minutes(30),
      refreshTokenDuration: hours(24),
      refreshRetryWindow: seconds(0),
      maxSessionDuration: days(30),
    },
    keys: { algorithms: { access: 'ES256', id: 'RS256' }, rotation: days(90) },
    enrollment: { duration: hours(24), certificateDuration: days(365) },
    passwords: { hashing: 'auto', queue: 64, rejectCommon: true },
    totp: { hostname: undefined },
    limits: { failuresPerAddress: 60, trustedProxies: [] },
    externalJwtSigners: {
      fetch: { allowHttp: false, blockPrivateAddresses: false, allowed: [], denied: [] },
    },
    audit: { retention: days(90), output: { kind: 'none' } },
    sso: { duration: seconds(0) },
    branding: {
      name: undefined,
      logo: undefined,
      colors: { accent: undefined, accentDark: undefined },
      support: undefined,
    },
    log: { level: 'info', format: 'auto' },
    notifications: { webhook: undefined },
    telemetry: { traces: undefined },
  })
})

test('health checks and metrics may have a listener of their own', async (t) => {
  const apis = [{ binding: 'health-checks' }, { binding: 'metrics' }]
  const { config } = await loadFile(t, { ...FILE, web: [LISTENER, { ...OTHER, apis }] })
  assert.deepEqual(config.listeners[1]?.apis, apis)
})

test('D-139: a collector of traces has an endpoint, header fields and a ratio', async (t) => {
  const endpoint = 'https://collector.example.com:4318/v1/traces?tenant=1'
  const headers = { Authorization: `Bearer \${OTLP_TOKEN}` }
  const { config } = await loadFile(
    t,
    { ...FILE, telemetry: { traces: { endpoint, headers, sampleRatio: `\${RATIO}` } } },
    { OTLP_TOKEN: 'hunter2', RATIO: '0.25' },
  )
  const { traces } = config.telemetry
  assert.equal(traces?.endpoint.href, endpoint)
  assert.equal(traces?.headers['Authorization']?.reveal(), 'Bearer hunter2')
  assert.equal(traces?.sampleRatio, 0.25)
  // R108
  assert.equal(inspect(config, { depth: null }).includes('hunter2'), false)
  assert.equal(JSON.stringify(config).includes('hunter2'), false)
})

test('with only an endpoint every request is traced, also over plain http', async (t) => {
  for (const endpoint of ['http://collector:4318/v1/traces', 'http://127.0.0.1:4318/v1/traces']) {
    const { config } = await loadFile(t, { ...FILE, telemetry: { traces: { endpoint } } })
    const { traces } = config.telemetry
    assert.deepEqual(
      [traces?.endpoint.href, traces?.headers, traces?.sampleRatio],
      [endpoint, {}, 1],
    )
  }
})

test('every key that is given is used', async (t) => {
  const { config, adjustments } = await loadFile(
    t,
    {
      v: 1,
      trustDomain: 'example.com',
      db: '/var/lib/latchkey/data.db',
      secret: { environment: 'SECRET' },
      identity: { cert: 'pem/cert.pem', key: 'pem/key.pem', ca: 'pem/ca.pem' },
      web: [
        {
          name: 'apis',
          bindPoints: [
            { interface: '[::1]:1280', address: 'API.example.com:443' },
            { interface: '[::1]:1280', address: '[::1]:0' },
          ],
          identity: { cert: 'pem/public.pem', key: process.execPath },
          options: {
            minTLSVersion: 'TLS1.3',
            maxTLSVersion: 'TLS1.3',
            timeouts: { header: '2s', request: '3s', idle: '1h' },
          },
          apis: [{ binding: 'edge-client' }, { binding: 'edge-management', options: {} }],
        },
        {
          name: 'login',
          bindPoints: [{ interface: '0.0.0.0:0', address: 'localhost:0' }],
          apis: [
            {
              binding: 'edge-oidc',
              options: {
                redirectURIs: ['https://app.example.com/'],
                postLogoutURIs: ['https://app.example.com/signed-out', 'http://localhost:*/bye'],
              },
            },
          ],
        },
      ],
      edge: {
        brand: 'acme',
        api: {
          address: 'api.example.com:443',
          corsOrigins: ['https://console.example.com', 'http://localhost:5173'],
          sessionTimeout: '1h',
          sessionCertificateDuration: '2h',
        },
        oidc: {
          accessTokenDuration: '10m',
          idTokenDuration: '1h30m',
          refreshTokenDuration: '11m',
          refreshRetryWindow: '20s',
          maxSessionDuration: '1d',
          signingAlgorithm: 'EdDSA',
          idTokenAlgorithm: 'ES256',
          keyRotation: '7d',
        },
        totp: { hostname: 'ID.example.com' },
        enrollment: { duration: '2h', certificateDuration: '30d' },
        passwords: { hashing: 2, queue: 0 },
        limits: { failuresPerAddress: 0, trustedProxies: ['192.0.2.1', 'fd00::/8'] },
        externalJwtSigners: {
          fetch: {
            allowHttp: true,
            blockPrivateAddresses: true,
            allowed: ['IDP.example.com', '::ffff:10.1.0.0/112'],
            denied: ['0.0.0.0/0'],
          },
        },
      },
      log: { level: 'debug', format: 'text' },
    },
    { SECRET: 'from-outside' },
  )
  assert.deepEqual(adjustments, [])
  const { home, secret, listeners } = config
  assert.deepEqual(config.db, { kind: 'sqlite', path: '/var/lib/latchkey/data.db' })
  assert.equal(secret.kind === 'environment' && secret.variable, 'SECRET')
  assert.equal(secret.kind === 'environment' && secret.value.reveal(), 'from-outside')

  const [apis, login] = listeners
  assert.deepEqual(apis.bindPoints, [
    { interface: { host: '::1', port: 1280 }, address: { host: 'api.example.com', port: 443 } },
    { interface: { host: '::1', port: 1280 }, address: { host: '::1', port: 1280 } },
  ])
  assert.deepEqual(apis.identity, { cert: join(home, 'pem/public.pem'), key: process.execPath })
  assert.deepEqual(apis.tls, { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' })
  assert.deepEqual(apis.timeouts, {
    header: seconds(2),
    request: seconds(3),
    idle: hours(1),
    write: seconds(30),
  })
  assert.deepEqual(apis.apis, [{ binding: 'edge-client' }, { binding: 'edge-management' }])

  assert.deepEqual(login?.identity, {
    cert: join(home, 'pem/cert.pem'),
    key: join(home, 'pem/key.pem'),
    ca: join(home, 'pem/ca.pem'),
  })
  assert.deepEqual(login?.bindPoints, [
    { interface: { host: '0.0.0.0', port: 0 }, address: { host: 'localhost', port: 0 } },
  ])
  assert.deepEqual(login?.apis, [
    {
      binding: 'edge-oidc',
      redirectPatterns: [{ free: 'nothing', uri: 'https://app.example.com/' }],
      postLogoutPatterns: [
        { free: 'nothing', uri: 'https://app.example.com/signed-out' },
        { free: 'port', scheme: 'http:', host: 'localhost', target: '/bye' },
      ],
    },
  ])

  assert.equal(config.brand, 'acme')
  assert.deepEqual(config.api.corsOrigins, ['https://console.example.com', 'http://localhost:5173'])
  assert.deepEqual(config.tokens, {
    accessTokenDuration: minutes(10),
    idTokenDuration: minutes(90),
    refreshTokenDuration: minutes(11),
    refreshRetryWindow: seconds(20),
    maxSessionDuration: days(1),
  })
  assert.equal(config.trustDomain, 'example.com')
  assert.deepEqual(config.api.address, { host: 'api.example.com', port: 443 })
  assert.equal(config.api.sessionTimeout, hours(1))
  assert.equal(config.api.sessionCertificateDuration, hours(2))
  assert.equal(config.totp.hostname, 'id.example.com')
  assert.deepEqual(config.enrollment, { duration: hours(2), certificateDuration: days(30) })
  assert.deepEqual(config.limits, {
    failuresPerAddress: 0,
    trustedProxies: [
      { address: [192, 0, 2, 1], prefix: 32 },
      { address: [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], prefix: 8 },
    ],
  })
  assert.deepEqual(config.externalJwtSigners.fetch, {
    allowHttp: true,
    blockPrivateAddresses: true,
    allowed: [
      { kind: 'host', host: 'idp.example.com' },
      { kind: 'network', network: { address: [10, 1, 0, 0], prefix: 16 } },
    ],
    denied: [{ kind: 'network', network: { address: [0, 0, 0, 0], prefix: 0 } }],
  })
  assert.deepEqual(config.keys, {
    algorithms: { access: 'EdDSA', id: 'ES256' },
    rotation: days(7),
  })
  assert.deepEqual(config.passwords, { hashing: 2, queue: 0, rejectCommon: true })
  assert.deepEqual(config.log, { level: 'debug', format: 'text' })
})

test('the password in a database URL cannot be printed', async (t) => {
  const { config } = await loadFile(
    t,
    { ...FILE, db: `postgresql://me:\${PGPASSWORD}@db.example.com/latchkey` },
    { PGPASSWORD: 'hunter2' },
  )
  assert.equal(
    config.db.kind === 'postgres' && config.db.url.reveal(),
    'postgresql://me:hunter2@db.example.com/latchkey',
  )
  assert.equal(inspect(config, { depth: null }).includes('hunter2'), false)
  assert.equal(JSON.stringify(config).includes('hunter2'), false)
})

test('a variable may stand for a number, a flag, a duration or a choice', async (t) => {
  const { config } = await loadFile(
    t,
    {
      ...FILE,
      edge: {
        api: { disableOidcAutoBinding: `\${FLAG}` },
        oidc: { keyRotation: `\${DAYS}d` },
        passwords: { hashing: `\${AUTO}`, queue: `\${QUEUE}` },
      },
      log: { level: `\${LEVEL}` },
    },
    { FLAG: 'true', DAYS: '5', AUTO: 'auto', QUEUE: '7', LEVEL: 'warn' },
  )
  assert.deepEqual(config.listeners[0].apis, [{ binding: 'edge-client' }])
  assert.equal(config.keys.rotation, days(5))
  assert.deepEqual(config.passwords, { hashing: 'auto', queue: 7, rejectCommon: true })
  assert.equal(config.log.level, 'warn')
})

test('a variable cannot add a key, whatever it holds', async (t) => {
  // Attack: an attacker who sets one variable of a deployment must not be able to write the whole file.
  const variables = { LEVEL: 'info\nedge: {brand: stolen}' }
  assert.deepEqual(await problemsOf(t, { ...FILE, log: { level: `\${LEVEL}` } }, variables), [
    {
      path: 'log.level',
      message: 'must be `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
    },
  ])
})

test('sections whose lines are all commented out have their defaults', async (t) => {
  const plain = await loadFile(t, FILE)
  const { config } = await loadFile(t, {
    ...FILE,
    secret: null,
    edge: { api: null, oidc: null, limits: null, externalJwtSigners: { fetch: null } },
    log: null,
  })
  assert.deepEqual({ ...config.keys, ...config.log }, { ...plain.config.keys, ...plain.config.log })
  assert.equal(config.secret.kind, 'file')
})

test('durations that are too short are adjusted, each with one warning', async (t) => {
  const { config, adjustments } = await loadFile(t, {
    v: 1,
    web: [{ ...LISTENER, options: { timeouts: { header: '40s' } } }],
    edge: {
      api: { sessionTimeout: '30s', sessionCertificateDuration: '59s' },
      oidc: {
        accessTokenDuration: 0,
        idTokenDuration: '-1h',
        refreshTokenDuration: '1m59s',
        refreshRetryWindow: '-1s',
        maxSessionDuration: '1s',
        keyRotation: '59m',
      },
    },
  })
  assert.equal(config.api.sessionTimeout, minutes(1))
  assert.deepEqual(config.tokens, {
    accessTokenDuration: minutes(1),
    idTokenDuration: minutes(1),
    refreshTokenDuration: minutes(2),
    refreshRetryWindow: seconds(0),
    maxSessionDuration: minutes(1),
  })
  assert.equal(config.keys.rotation, hours(1))
  assert.equal(config.listeners[0].timeouts.request, seconds(40))
  assert.deepEqual(adjustments, [
    // In the order of the file.
    { path: 'web[0].options.timeouts.request', given: '30s', used: '40s' },
    { path: 'edge.api.sessionTimeout', given: '30s', used: '1m' },
    { path: 'edge.api.sessionCertificateDuration', given: '59s', used: '1m' },
    { path: 'edge.oidc.accessTokenDuration', given: '0s', used: '1m' },
    { path: 'edge.oidc.idTokenDuration', given: '-1h', used: '1m' },
    { path: 'edge.oidc.refreshTokenDuration', given: '1m59s', used: '2m' },
    { path: 'edge.oidc.refreshRetryWindow', given: '-1s', used: '0s' },
    { path: 'edge.oidc.maxSessionDuration', given: '1s', used: '1m' },
    { path: 'edge.oidc.keyRotation', given: '59m', used: '1h' },
  ])
})

test('the configuration is frozen to its last value', async (t) => {
  const { config } = await loadFile(t, {
    ...FILE,
    edge: { api: { corsOrigins: ['https://a.example'] } },
  })
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return
    assert.ok(Object.isFrozen(value), path)
    for (const [name, child] of Object.entries(value)) walk(child, `${path}.${name}`)
  }
  walk(config, 'config')
})

test('another file is read where one is named, and paths still count from the home', async (t) => {
  const home = configHome(t)
  const file = join(home, 'other.yml')
  writeFileSync(file, JSON.stringify(FILE))
  const { config } = await loadConfig({ home, file, environment: readEnvironment({}) })
  assert.deepEqual(config.db, { kind: 'sqlite', path: join(home, 'latchkey.db') })
})

test('a missing file is refused with its path', async (t) => {
  const home = configHome(t)
  await assert.rejects(loadConfig({ home, environment: readEnvironment({}) }), {
    name: 'ConfigProblems',
    message: `${join(home, CONFIG_FILE)} has one problem:\n  there is no such file`,
  })
})

test('bind points of one listener may share an interface or an address', async (t) => {
  const bindPoints = [
    { interface: '127.0.0.1:1280', address: 'localhost:1280' },
    { interface: '127.0.0.1:1280', address: '127.0.0.1:1280' },
    { interface: '[::1]:1280', address: 'localhost:1280' },
  ]
  const { config } = await loadFile(t, { v: 1, web: [{ ...LISTENER, bindPoints }] })
  assert.equal(config.listeners[0].bindPoints.length, 3)
})

test('listeners on free ports do not collide', async (t) => {
  const bindPoints = [{ interface: '127.0.0.1:0', address: 'localhost:0' }]
  const { config } = await loadFile(t, {
    v: 1,
    web: [
      { ...LISTENER, bindPoints },
      { ...OTHER, bindPoints },
    ],
  })
  assert.equal(config.listeners.length, 2)
})

test('the examples in docs/configuration.md load without problems and adjustments', async (t) => {
  const examples = readFileSync(PAGE, 'utf8').match(/(?<=```yaml\n)[\s\S]*?(?=```)/g) ?? []
  assert.equal(examples.length, 2)
  for (const example of examples) assert.deepEqual((await loadFile(t, example)).adjustments, [])
})

test('D-314: the compatibility layer follows the brand unless it is named', async (t) => {
  const cases = [
    [{}, 'none'],
    [{ brand: 'openziti' }, 'openziti'],
    [{ brand: 'openziti', compatibility: 'none' }, 'none'],
    [{ brand: 'acme', compatibility: 'openziti' }, 'openziti'],
  ] as const
  for (const [edge, expected] of cases) {
    assert.equal(
      (await loadFile(t, { ...FILE, edge })).config.compatibility,
      expected,
      JSON.stringify(edge),
    )
  }
})
