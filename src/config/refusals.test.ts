/**
 * What is refused about the file as a whole and about every part of it but the listeners. D-43,
 * D-46.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  configHome,
  FILE,
  problemsOf,
  testRefusals,
} from '../../test/support/process/config-home.ts'
import { readEnvironment } from './environment.ts'
import { CONFIG_FILE, loadConfig } from './load.ts'

const NOT_A_NAME = 'must be 1 to 64 letters, digits, dots, hyphens or underscores'
const LIST = 'must be a list of 1 to 256 entries'
const edge = (change: object): object => ({ ...FILE, edge: change })
const NOT_A_NETWORK = 'is not an address or network; write it like 10.1.2.3 or 10.0.0.0/8'
const NOT_A_PLACE =
  'is not a host, address or network; write it like idp.example.com, 10.1.2.3 or 10.0.0.0/8'
const proxies = (...trustedProxies: unknown[]): object => edge({ limits: { trustedProxies } })
const fetching = (fetch: object): object => edge({ externalJwtSigners: { fetch } })
const origins = (...corsOrigins: unknown[]): object => edge({ api: { corsOrigins } })

testRefusals([
  ['an empty file', '', ['v', 'is missing'], ['web', 'is missing']],
  ['a file that is a list', [], ['', 'must be a map of keys']],
  ['a file that is a text', 'hello', ['', 'must be a map of keys']],
  ['another version', { ...FILE, v: 2 }, ['v', 'must be 1']],
  ['a version in quotes', { ...FILE, v: '1' }, ['v', 'must be 1']],
  [
    'a key twice',
    'v: 1\nv: 1\n',
    ['line 2', 'this key is in the same map twice'],
    ['web', 'is missing'],
  ],
  ['an unknown key', { ...FILE, wbe: 1 }, ['wbe', 'is not a known key; did you mean web?']],
  [
    'a key that comes later',
    edge({ passwords: { strength: true } }),
    ['edge.passwords.strength', 'is not a known key; known here: hashing, queue, rejectCommon'],
  ],
  [
    'a key in the wrong place',
    edge({ signingAlgorithm: 'ES256' }),
    ['edge.signingAlgorithm', 'is not a known key; did you mean edge.oidc.signingAlgorithm?'],
  ],
  [
    'a key named __proto__',
    '{"v": 1, "__proto__": {"web": []}}',
    ['web', 'is missing'],
    [
      '__proto__',
      'is not a known key; known here: v, db, workers, trustDomain, secret, identity, web, edge, sso, branding, log, notifications, telemetry',
    ],
  ],
  [
    'a color that is hard to read',
    { ...FILE, branding: { colors: { accent: '#ffcc00' } } },
    [
      'branding.colors.accent',
      '"#ffcc00" has a contrast of 1.5 on the light page; at least 4.5 is needed: choose a darker one',
    ],
  ],
  [
    'a dark color for dark pages, and one that is not valid',
    { ...FILE, branding: { colors: { accentDark: '#102040', accent: 'red' } } },
    ['branding.colors.accent', '"red" is not a color; write it like #1f56c3'],
    [
      'branding.colors.accentDark',
      '"#102040" has a contrast of 1.1 on the dark page; at least 4.5 is needed: choose a lighter one',
    ],
  ],
  [
    'a help link that runs a script',
    { ...FILE, branding: { support: 'javascript:alert(1)' } },
    ['branding.support', '"javascript:alert(1)" must begin with https:// or mailto:'],
  ],
  [
    'a name of several lines',
    { ...FILE, branding: { name: 'Example\nCorp' } },
    [
      'branding.name',
      '"Example\\nCorp" must be one line of 1 to 60 characters, without spaces at its ends',
    ],
  ],
  [
    'single sign-on that is longer than the session of the account page',
    { ...FILE, sso: { duration: '2h' } },
    [
      'sso.duration',
      'is longer than edge.oidc.accessTokenDuration (30m), and the session of /account lasts only as long',
    ],
  ],
  ['a section that is a text', { ...FILE, log: 'debug' }, ['log', 'must be a map of keys']],
  [
    'a database that is a number',
    { ...FILE, db: 5 },
    ['db', 'must be a path or a `postgres://` URL'],
  ],
  ['an empty database', { ...FILE, db: '' }, ['db', 'is not a path']],
  [
    'another database',
    { ...FILE, db: 'mysql://h/d' },
    ['db', 'is neither a path nor a postgres:// URL'],
  ],
  [
    'a database in memory',
    { ...FILE, db: ':memory:' },
    ['db', 'is neither a path nor a postgres:// URL'],
  ],
  [
    'a SQLite URI',
    { ...FILE, db: 'file:x?mode=ro' },
    ['db', 'is neither a path nor a postgres:// URL'],
  ],
  [
    'a database URL with a bad port',
    { ...FILE, db: 'postgres://me:p@h:port/d' },
    ['db', 'is not a URL; percent-encode what is special in user and password'],
  ],
  ['a path with a NUL', { ...FILE, db: 'a\0b' }, ['db', 'has a control character in it']],
  [
    'a path that is too long',
    { ...FILE, db: 'x'.repeat(4097) },
    ['db', 'is longer than 4096 characters'],
  ],
  [
    'two homes of the secret',
    { ...FILE, secret: { file: 'x', environment: 'SET' } },
    ['secret', 'has a file and an environment variable; keep one of them'],
  ],
  [
    'a secret in an unset variable',
    { ...FILE, secret: { environment: 'UNSET' } },
    ['secret.environment', 'names an environment variable that is not set'],
  ],
  [
    'a secret in an empty variable',
    { ...FILE, secret: { environment: 'EMPTY' } },
    ['secret.environment', 'names an environment variable that is not set'],
  ],
  [
    'a secret in a variable with no possible name',
    { ...FILE, secret: { environment: 'A B' } },
    ['secret.environment', '"A B" is not the name of an environment variable'],
  ],
  [
    'a certificate without a key',
    { ...FILE, identity: { cert: 'pem/cert.pem' } },
    ['identity.key', 'is missing'],
  ],
  [
    'an empty identity',
    { ...FILE, identity: null },
    ['identity.cert', 'is missing'],
    ['identity.key', 'is missing'],
  ],
  ['a brand with a space', edge({ brand: 'a b' }), ['edge.brand', `"a b" ${NOT_A_NAME}`]],
  ['a brand with a quote', edge({ brand: 'a"b' }), ['edge.brand', `"a\\"b" ${NOT_A_NAME}`]],
  ['an empty brand', edge({ brand: '' }), ['edge.brand', `"" ${NOT_A_NAME}`]],
  [
    'a brand of 65 letters',
    edge({ brand: 'x'.repeat(65) }),
    ['edge.brand', `"${'x'.repeat(65)}" ${NOT_A_NAME}`],
  ],
  ['a brand that is a number', edge({ brand: 5 }), ['edge.brand', 'must be a name']],
  [
    'a flag that is a word',
    edge({ api: { disableOidcAutoBinding: 'yes' } }),
    ['edge.api.disableOidcAutoBinding', 'must be `true` or `false`'],
  ],
  [
    'origins that are not a list',
    edge({ api: { corsOrigins: 'https://a.example' } }),
    ['edge.api.corsOrigins', 'must be a list of at most 256 entries'],
  ],
  [
    'the origin *',
    origins('*'),
    ['edge.api.corsOrigins[0]', '"*" is not an origin; write it like https://console.example.com'],
  ],
  [
    'the origin null',
    origins('null'),
    [
      'edge.api.corsOrigins[0]',
      '"null" is not an origin; write it like https://console.example.com',
    ],
  ],
  [
    'a wildcard in an origin',
    origins('https://*.example.com'),
    ['edge.api.corsOrigins[0]', '"https://*.example.com" has a host that is not a host name'],
  ],
  [
    'an origin with a slash',
    origins('https://a.example/'),
    [
      'edge.api.corsOrigins[0]',
      '"https://a.example/" is not an exact origin; write "https://a.example"',
    ],
  ],
  [
    'an origin with the default port',
    origins('https://a.example:443'),
    [
      'edge.api.corsOrigins[0]',
      '"https://a.example:443" is not an exact origin; write "https://a.example"',
    ],
  ],
  [
    'an origin in capitals',
    origins('https://A.example'),
    [
      'edge.api.corsOrigins[0]',
      '"https://A.example" is not an exact origin; write "https://a.example"',
    ],
  ],
  [
    'an origin with user info',
    origins('https://me@a.example'),
    [
      'edge.api.corsOrigins[0]',
      '"https://me@a.example" is not an exact origin; write "https://a.example"',
    ],
  ],
  [
    'a plain origin elsewhere',
    origins('http://a.example'),
    ['edge.api.corsOrigins[0]', '"http://a.example" is plain http to another machine; use https'],
  ],
  [
    'an origin of another scheme',
    origins('ftp://a.example'),
    ['edge.api.corsOrigins[0]', '"ftp://a.example" is neither https nor http'],
  ],
  [
    'a lifetime without a unit',
    edge({ oidc: { accessTokenDuration: 30 } }),
    ['edge.oidc.accessTokenDuration', 'must be a duration'],
  ],
  [
    'a lifetime that is a word',
    edge({ oidc: { idTokenDuration: 'soon' } }),
    [
      'edge.oidc.idTokenDuration',
      '"soon" is not a duration; write it like 90s, 30m, 24h, 1h30m or 7d',
    ],
  ],
  [
    'more than ten years',
    edge({ oidc: { keyRotation: '3651d' } }),
    ['edge.oidc.keyRotation', '"3651d" is too long; 3650d at most'],
  ],
  [
    'a missing value',
    edge({ oidc: { keyRotation: null } }),
    ['edge.oidc.keyRotation', 'must be a duration'],
  ],
  [
    'no signature',
    edge({ oidc: { signingAlgorithm: 'none' } }),
    ['edge.oidc.signingAlgorithm', 'must be `ES256`, `RS256` or `EdDSA`'],
  ],
  [
    'an ID token with a shared secret',
    edge({ oidc: { idTokenAlgorithm: 'HS256' } }),
    ['edge.oidc.idTokenAlgorithm', 'must be `ES256`, `RS256` or `EdDSA`'],
  ],
  [
    'no workers',
    { ...FILE, workers: 0 },
    ['workers', 'must be `auto` or a whole number from 1 to 64'],
  ],
  [
    'workers in words',
    { ...FILE, workers: 'all' },
    ['workers', 'must be `auto` or a whole number from 1 to 64'],
  ],
  [
    'no hashing',
    edge({ passwords: { hashing: 0 } }),
    ['edge.passwords.hashing', 'must be `auto` or a whole number from 1 to 64'],
  ],
  [
    'half a hashing',
    edge({ passwords: { hashing: 1.5 } }),
    ['edge.passwords.hashing', 'must be `auto` or a whole number from 1 to 64'],
  ],
  [
    'a negative queue',
    edge({ passwords: { queue: -1 } }),
    ['edge.passwords.queue', 'must be a whole number from 0 to 10000'],
  ],
  [
    'an endless queue',
    'v: 1\nweb: [{}]\nedge: {passwords: {queue: .inf}}',
    ['web[0].name', 'is missing'],
    ['web[0].bindPoints', 'is missing'],
    ['web[0].apis', 'is missing'],
    ['edge.passwords.queue', 'must be a whole number from 0 to 10000'],
  ],
  [
    'a session that lasts for ever',
    edge({ oidc: { maxSessionDuration: '3651d' } }),
    ['edge.oidc.maxSessionDuration', '"3651d" is too long; 3650d at most'],
  ],
  [
    // R052: overflow and malformed text are refused, not adjusted.
    'refresh tokens that live for ever, and a retry window that is no slip of the network',
    edge({ oidc: { refreshTokenDuration: '3651d', refreshRetryWindow: '5m1s' } }),
    ['edge.oidc.refreshTokenDuration', '"3651d" is too long; 3650d at most'],
    ['edge.oidc.refreshRetryWindow', '"5m1s" is too long; 5m at most'],
  ],
  [
    'durations of refresh tokens that are not valid',
    edge({ oidc: { refreshTokenDuration: '1 day', refreshRetryWindow: 10 } }),
    [
      'edge.oidc.refreshTokenDuration',
      '"1 day" is not a duration; write it like 90s, 30m, 24h, 1h30m or 7d',
    ],
    ['edge.oidc.refreshRetryWindow', 'must be a duration'],
  ],
  [
    'a session timeout that is a number',
    edge({ api: { sessionTimeout: 30 } }),
    ['edge.api.sessionTimeout', 'must be a duration'],
  ],
  [
    'a negative number of failures',
    edge({ limits: { failuresPerAddress: -1 } }),
    ['edge.limits.failuresPerAddress', 'must be a whole number from 0 to 1000000'],
  ],
  [
    'a proxy by its name',
    proxies('proxy.example.com'),
    ['edge.limits.trustedProxies[0]', `"proxy.example.com" ${NOT_A_NETWORK}`],
  ],
  [
    'a network with bits behind its prefix',
    proxies('10.0.0.0/8', '10.1.2.3/8'),
    ['edge.limits.trustedProxies[1]', `"10.1.2.3/8" ${NOT_A_NETWORK}`],
  ],
  ['a proxy that is a number', proxies(10), ['edge.limits.trustedProxies[0]', 'must be text']],
  [
    'a URL instead of a host',
    fetching({ allowed: ['https://idp.example.com'] }),
    ['edge.externalJwtSigners.fetch.allowed[0]', `"https://idp.example.com" ${NOT_A_PLACE}`],
  ],
  [
    'a host with a port',
    fetching({ denied: ['idp.example.com:443'] }),
    ['edge.externalJwtSigners.fetch.denied[0]', `"idp.example.com:443" ${NOT_A_PLACE}`],
  ],
  [
    'every host',
    fetching({ denied: ['*'] }),
    ['edge.externalJwtSigners.fetch.denied[0]', `"*" ${NOT_A_PLACE}`],
  ],
  [
    'an exception that is not a boolean',
    fetching({ allowHttp: 1 }),
    ['edge.externalJwtSigners.fetch.allowHttp', 'must be `true` or `false`'],
  ],
  [
    'an issuer of one-time passwords with a port',
    edge({ totp: { hostname: 'id.example.com:443' } }),
    ['edge.totp.hostname', '"id.example.com:443" is not a host name; write it like id.example.com'],
  ],
  [
    'an empty issuer of one-time passwords',
    edge({ totp: { hostname: '' } }),
    ['edge.totp.hostname', '"" is not a host name; write it like id.example.com'],
  ],
  [
    'an unknown format',
    { ...FILE, log: { format: 'xml' } },
    ['log.format', 'must be `auto`, `json` or `text`'],
  ],
  [
    'unset variables',
    { ...FILE, db: `postgres://\${NO_USER}:\${NO_PASSWORD}@h/d` },
    ['db', 'needs the environment variable NO_USER, which is not set'],
    ['db', 'needs the environment variable NO_PASSWORD, which is not set'],
  ],
])

test('all problems are in one message, whichever part of the check finds them', async (t) => {
  const home = configHome(t)
  const file = join(home, CONFIG_FILE)
  writeFileSync(
    file,
    [
      'v: 1',
      'v: 1',
      `db: \${UNSET}`,
      'identity: {cert: pem/none.pem, key: pem/key.pem}',
      'web:',
      '  - {name: one, bindPoints: [], apis: [{binding: edge-client}]}',
      '  - {name: one, bindPoints: [{interface: "127.0.0.1:1", address: "localhost:1"}], apis: [{}]}',
      'edge: {brand: 5}',
    ].join('\n'),
  )
  await assert.rejects(loadConfig({ home, environment: readEnvironment({}) }), {
    name: 'ConfigProblems',
    message: [
      `${file} has 7 problems:`,
      'line 2: this key is in the same map twice',
      'db: needs the environment variable UNSET, which is not set',
      `web[0].bindPoints: ${LIST}`,
      'web[1].apis[0].binding: is missing',
      'edge.brand: must be a name',
      'web[1].name: "one" is the name of web[0] too; give each listener its own',
      'identity.cert: names a file that is not there or not readable',
    ].join('\n  '),
  })
})

test('no problem shows a database URL', async (t) => {
  // R108
  for (const db of [
    'mysql://me:hunter2@h/d',
    'postgres://me:hunter2@h:x/d',
    `hunter2\${X}`,
    'hunter2\0',
  ]) {
    const problems = await problemsOf(t, { ...FILE, db })
    assert.equal(problems.length, 1, db)
    assert.equal(JSON.stringify(problems).includes('hunter2'), false, JSON.stringify(problems))
  }
})

test('bad YAML is refused with its line', async (t) => {
  const [problem, ...others] = await problemsOf(t, 'v: 1\nweb: {')
  assert.equal(problem?.path, 'line 2')
  assert.match(problem?.message ?? '', /^is not valid YAML: /)
  assert.deepEqual(others, [])
})
