/**
 * The file `controller.yml`, as people write it: every key with its kind of value, its default and
 * what people are told about it. `docs/configuration.md` and the file in a new home are made from
 * this. D-46.
 *
 * A key is here only when some code reads it. A new key has a default that keeps yesterday's file
 * working.
 */
import { z } from 'zod'
import { days, formatDuration, hours, minutes, seconds } from '../base/time/duration.ts'
import { SIGNING_ALGORITHMS } from '../protocol/signing-algorithms.ts'
import { BINDINGS, LOG_FORMATS, LOG_LEVELS, STRICT_TRANSPORT } from './config.ts'
import {
  auditOutput,
  collectorUrl,
  count,
  database,
  duration,
  filePath,
  flag,
  headerFields,
  hostName,
  hostOrNetwork,
  hostPort,
  keyFacts,
  list,
  network,
  oneOf,
  origin,
  ratio,
  redirectPattern,
  section,
  token,
  trustDomain,
  variableName,
} from './values.ts'

const identity = (rule: string, folder: string) =>
  section(rule, {
    cert: filePath('PEM file: the certificate, then its intermediates.', `${folder}/server.pem`),
    key: filePath('PEM file: its private key.', `${folder}/server.key`),
    ca: filePath(
      'PEM file: the CAs that clients need to trust the certificate.',
      `${folder}/ca.pem`,
    ).optional(),
  }).optional()

// Node's timers overflow after 24 days, and a connection that may wait for longer than a day protects nothing.
const LONGEST_TIMEOUT = days(1)

const timeouts = section(`Time-outs of connections, ${formatDuration(LONGEST_TIMEOUT)} at most.`, {
  // D-44: 10 s for the header, 30 s for the request.
  header: duration(
    { usual: '10s', minimum: seconds(1), maximum: LONGEST_TIMEOUT },
    'Limit for the TLS handshake, and for the header of a request.',
  ),
  // Node refuses one that is shorter than `header`.
  request: duration(
    {
      usual: '30s',
      minimum: seconds(1),
      longerThan: { key: 'header', by: seconds(0) },
      maximum: LONGEST_TIMEOUT,
    },
    'Until a whole request is there. At least as long as `header`.',
  ),
  idle: duration(
    { usual: '60s', minimum: seconds(1), maximum: LONGEST_TIMEOUT },
    'How long a connection may wait for its next request.',
  ),
  // D-196.
  write: duration(
    { usual: '30s', minimum: seconds(1), maximum: LONGEST_TIMEOUT },
    'How long a client may accept no byte of a response that is being sent to it.',
  ),
}).prefault({})

const bindPoint = section('One place to listen.', {
  interface: hostPort(
    'interface',
    'Where to listen. `0.0.0.0` is every IPv4 interface, `[::]` every interface (IPv6 in ' +
      'quotes: YAML reads brackets as a list). Port 0 is a free port. No two listeners share one.',
  ),
  address: hostPort(
    'address',
    'What clients connect to. It makes the issuer `https://<address>/oidc`. Port 0 is the port ' +
      'of the interface. No two listeners share one.',
  ),
})

const api = section('One API.', {
  binding: oneOf(
    BINDINGS,
    'Which API. Each at most once on a listener. `metrics` is for a listener that only your ' +
      'monitoring reaches: whoever reaches it may read.',
  ),
  options: section('`edge-oidc` alone has options. It needs to be listed only to set them.', {
    redirectURIs: list(
      {
        rule:
          'Callbacks that clients may name. `*` may stand for the port; `http` only to this ' +
          'machine. A list replaces the default: `http` and `https` to `localhost`, ' +
          '`127.0.0.1` and `[::1]`, any port, any path.',
        example: ['https://app.example.com/callback', 'http://127.0.0.1:*/callback'],
      },
      redirectPattern(),
    ).optional(),
    postLogoutURIs: list(
      {
        rule: 'Where a logout may lead. The same form and the same default as `redirectURIs`.',
        example: ['https://app.example.com/signed-out'],
      },
      redirectPattern(),
    ).optional(),
  }).prefault({}),
})

const listener = section('One listener.', {
  name: token('For logs and messages. No two listeners share one.'),
  bindPoints: list({ rule: 'Where the listener listens, and how clients call it.' }, bindPoint),
  identity: identity(
    'A certificate for this listener alone, a public one for instance. Without it: the one at ' +
      'the top of the file. PEM files; `ca` may be left out.',
    'public',
  ),
  options: section('How connections are treated.', {
    minTLSVersion: oneOf(['TLS1.2', 'TLS1.3'], 'The oldest TLS that is spoken.').prefault('TLS1.2'),
    maxTLSVersion: oneOf(['TLS1.2', 'TLS1.3'], 'The newest TLS that is spoken.').prefault('TLS1.3'),
    strictTransportSecurity: oneOf(
      STRICT_TRANSPORT,
      'Whether to tell browsers to use only https for this host (HSTS), for a year. `auto`: if ' +
        'the certificate chains to a public root. It counts for every port of the host.',
    ).prefault('auto'),
    timeouts,
  }).prefault({}),
  proxyProtocol: section(
    'For a load balancer that passes TLS on: each connection begins with a PROXY header of version 2, ' +
      'which has the address of the client.',
    {
      trustedSources: list(
        {
          rule:
            'Addresses or networks of the balancers. Connections from elsewhere are refused, and ' +
            'so are those without a header.',
          example: ['10.0.0.0/24'],
        },
        network(),
      ),
    },
  ).optional(),
  apis: list(
    {
      rule:
        'What the listener serves; anything else is 404 there. `edge-oidc` is added to every ' +
        'listener with `edge-client`, unless it is listed on any listener or ' +
        '`edge.api.disableOidcAutoBinding` is true.',
    },
    api,
  ),
})

const edge = section('The service itself.', {
  brand: token(
    'OIDC client id, audience, provider of authentication queries and prefix of the realms, ' +
      'for clients built for a branded controller.',
  ).prefault('service'),
  api: section('The client and management APIs.', {
    address: hostPort(
      'address',
      'The address that enrollment JWTs send clients to: an `address` of a listener with ' +
        '`edge-client`. Without it: the first one.',
      'id.example.com:1280',
    ).optional(),
    disableOidcAutoBinding: flag('When true, OIDC is only where `edge-oidc` is listed.').prefault(
      false,
    ),
    corsOrigins: list(
      {
        rule:
          'Origins whose pages may call the APIs and post logins. Exact, like ' +
          '`https://console.example.com`; `http` only to this machine; no `*`.',
        mayBeEmpty: true,
      },
      origin(),
    ).prefault([]),
    // D-36: 30m, at least 1m.
    sessionTimeout: duration(
      { usual: '30m', minimum: minutes(1) },
      'How long a `zt-session` lives without a call.',
    ),
    // D-40: 12h.
    sessionCertificateDuration: duration(
      { usual: '12h', minimum: minutes(1) },
      'Life of an API session certificate; never longer than its session.',
    ),
  }).prefault({}),
  oidc: section('Tokens and the keys that sign them.', {
    // SPEC Limits: 30m, at least 1m.
    accessTokenDuration: duration(
      { usual: '30m', minimum: minutes(1) },
      'Life of an access token.',
    ),
    idTokenDuration: duration({ usual: '30m', minimum: minutes(1) }, 'Life of an ID token.'),
    // SPEC Limits: 24h, and at least one minute longer than the access token; compared always, given or default.
    refreshTokenDuration: duration(
      {
        usual: '24h',
        minimum: minutes(2),
        longerThan: { key: 'accessTokenDuration', by: minutes(1) },
      },
      'Life of a refresh token; each refresh gives a new one. At least one minute longer than ' +
        '`accessTokenDuration`.',
    ),
    // D-27: off. A longer window would make every stolen token good for as long.
    refreshRetryWindow: duration(
      { usual: '0s', minimum: seconds(0), maximum: minutes(5) },
      'How long a refresh whose answer was lost may be repeated with the same token. 0s is off.',
    ),
    // D-27: 30 days. A session that ends before its first token would hand out tokens that are not what they say.
    maxSessionDuration: duration(
      {
        usual: '30d',
        minimum: minutes(1),
        longerThan: { key: 'accessTokenDuration', by: seconds(0) },
      },
      'When a session ends for good, counted from its login, however busy it is. At least as ' +
        'long as `accessTokenDuration`.',
    ),
    signingAlgorithm: oneOf(
      SIGNING_ALGORITHMS,
      'How tokens are signed. A change takes effect with a new key.',
    ).prefault('ES256'),
    // D-23: 90 days. Faster than hourly, verifiers that cache the key set would not keep up.
    keyRotation: duration(
      { usual: '90d', minimum: hours(1) },
      'Age at which a signing key is replaced.',
    ),
  }).prefault({}),
  totp: section('Time-based one-time passwords.', {
    hostname: hostName(
      'What authenticator apps show as the issuer. Without it: the host that the client calls.',
      'id.example.com',
    ).optional(),
  }).prefault({}),
  enrollment: section('How identities get their first credential.', {
    // D-125: a day. Under a minute there is no time to enroll; a token that is good for years is a password.
    duration: duration(
      { usual: '24h', minimum: minutes(1), maximum: days(365) },
      'How long an enrollment token is good, where the administrator does not say until when.',
    ),
    // API 3.2: a year.
    certificateDuration: duration(
      { usual: '365d', minimum: hours(1) },
      'Life of a certificate that an identity gets for its token; never past the CA that issues it.',
    ),
  }).prefault({}),
  passwords: section('Hashing of passwords, the most expensive thing the service does.', {
    hashing: count(
      { from: 1, to: 64, or: 'auto' },
      'How many at the same time. `auto`: one for each core, three at most.',
    ).prefault('auto'),
    queue: count(
      { from: 0, to: 10_000 },
      'How many may wait, served in turn for each network. Beyond that the longest line is shed, and answered 503.',
    ).prefault(64),
    rejectCommon: flag(
      'Whether passwords that many people use, or that are made of the name, are refused.',
    ).prefault(true),
  }).prefault({}),
  limits: section('Limits for strangers.', {
    failuresPerAddress: count(
      { from: 0, to: 1_000_000 },
      'How many wrong passwords a minute one address may send, and how many wrong enrollment tokens. 0 is no limit.',
    ).prefault(60),
    trustedProxies: list(
      {
        rule:
          'Addresses or networks of reverse proxies, like `10.0.0.0/8`. From them alone the ' +
          'field `X-Forwarded-For` is believed.',
        mayBeEmpty: true,
      },
      network(),
    ).prefault([]),
  }).prefault({}),
  externalJwtSigners: section('Signers of external JWTs.', {
    fetch: section(
      'Where keys of signers may be fetched. Link-local addresses and those of cloud metadata ' +
        'services are refused, whatever stands here.',
      {
        allowHttp: flag('When true, plain `http` is allowed to other machines too.').prefault(
          false,
        ),
        blockPrivateAddresses: flag(
          'When true, private addresses and those of this machine are refused.',
        ).prefault(false),
        allowed: list(
          {
            rule:
              'Hosts, addresses or networks that `blockPrivateAddresses` does not count for, ' +
              'like `idp.example.com` or `10.1.2.0/24`.',
            mayBeEmpty: true,
          },
          hostOrNetwork(),
        ).prefault([]),
        denied: list(
          {
            rule: 'Hosts, addresses or networks that are refused, whatever else stands here.',
            mayBeEmpty: true,
          },
          hostOrNetwork(),
        ).prefault([]),
      },
    ).prefault({}),
  }).prefault({}),
  audit: section('The audit log: who got in, who did not and why, and what was changed.', {
    // D-102, D-134: 90 days. Keep at least one day, so that an overnight incident can still be investigated.
    retention: duration(
      { usual: '90d', minimum: days(1) },
      'How long events are kept in the database. Older ones are removed.',
    ),
    output: auditOutput(
      'Where each event is written besides, as one line of JSON: nowhere, to standard output, or ' +
        'to the end of a file, which is opened anew at SIGHUP.',
    ).prefault('none'),
  }).prefault({}),
}).prefault({})

export const ControllerFile = section('', {
  v: z.literal(1).register(keyFacts, { type: '1', rule: 'The version of this format.' }),
  db: database(
    'The database: a file for SQLite, or `postgres://USER:PASSWORD@HOST/NAME`. Special ' +
      'characters in user and password are percent-encoded.',
  ).prefault('latchkey.db'),
  trustDomain: trustDomain(
    'The SPIFFE trust domain that certificates name: lower-case letters, digits, dots, dashes and ' +
      'underscores. Certificates of before a change are refused.',
    'example.com',
  ).prefault('latchkey'),
  secret: section(
    'Where the installation secret is, under which signing keys are encrypted. One of the two.',
    {
      file: filePath('A file. Made when a home is made.', 'secret').prefault('secret'),
      environment: variableName(
        'An environment variable, instead of a file.',
        'LATCHKEY_SECRET',
      ).optional(),
    },
  ).prefault({}),
  identity: identity(
    "The certificate of listeners that have none of their own. Without it: one of the home's " +
      'own PKI. PEM files; `ca` may be left out.',
    'identity',
  ),
  web: list({ rule: 'The listeners.' }, listener),
  edge,
  log: section('What is logged.', {
    level: oneOf(LOG_LEVELS, 'The least important lines that are written.').prefault('info'),
    format: oneOf(LOG_FORMATS, 'For machines or for people.').prefault('json'),
  }).prefault({}),
  telemetry: section('What is told to other programs.', {
    traces: section('Spans for a collector that takes OTLP over HTTP, as JSON. Without it: none.', {
      endpoint: collectorUrl(
        'The whole URL. With `headers` it is https, or on this machine.',
        'https://collector.example.com:4318/v1/traces',
      ),
      headers: headerFields('Header fields to send along, a credential for instance.', {
        authorization: 'Bearer TOKEN',
      }).optional(),
      sampleRatio: ratio(
        'Which part of the requests is traced. Without it: 1, all of them.',
        0.1,
      ).optional(),
    }).optional(),
  }).prefault({}),
})

export type CheckedFile = z.output<typeof ControllerFile>
