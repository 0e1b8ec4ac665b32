/**
 * The file `controller.yml`, as operators write it: every key with its type, its default and its
 * description. `docs/configuration.md` and the file in a new home are generated from
 * this. D-46.
 *
 * A key is here only if some code reads it. A new key has a default that keeps existing files
 * working.
 */
import { z } from 'zod'
import { days, hours, minutes, seconds } from '../base/time/duration.ts'
import { SIGNING_ALGORITHMS } from '../protocol/signing-algorithms.ts'
import { branding, sso } from './branding/keys.ts'
import { COMPATIBILITIES } from './config.ts'
import { identity, listener } from './listener-keys.ts'
import { log, notifications, telemetry } from './programs/keys.ts'
import {
  auditOutput,
  count,
  database,
  duration,
  filePath,
  flag,
  hostName,
  hostOrNetwork,
  hostPort,
  keyFacts,
  list,
  listOrNone,
  network,
  oneOf,
  origin,
  section,
  token,
  trustDomain,
  variableName,
} from './values.ts'

const signedWith = (tokens: string) =>
  oneOf(SIGNING_ALGORITHMS, `How ${tokens} are signed. A change takes effect with a new key.`)

const edge = section('The service itself.', {
  brand: token(
    'OIDC client id, audience, provider of authentication queries and prefix of the realms, ' +
      'for clients built for a branded controller.',
  ).prefault('service'),
  compatibility: oneOf(
    COMPATIBILITIES,
    'Whether unmodified clients of OpenZiti controllers can log in: see docs/clients.md. Default: ' +
      '`openziti` with the brand `openziti`, `none` with any other.',
    'openziti',
  ).optional(),
  api: section('The client and management APIs.', {
    address: hostPort(
      'address',
      'The address that enrollment JWTs send clients to: an `address` of a listener with ' +
        '`edge-client`. Default: the first one.',
      'id.example.com:1280',
    ).optional(),
    disableOidcAutoBinding: flag('If true, OIDC is only where `edge-oidc` is listed.').prefault(
      false,
    ),
    corsOrigins: listOrNone(
      'Origins whose pages may call the APIs and post logins. Exact, like ' +
        '`https://console.example.com`; `http` only to this machine; no `*`.',
      origin(),
    ),
    // D-36: 30m, at least 1m.
    sessionTimeout: duration(
      { usual: '30m', minimum: minutes(1) },
      'How long a `zt-session` lasts without a call.',
    ),
    // D-40: 12h.
    sessionCertificateDuration: duration(
      { usual: '12h', minimum: minutes(1) },
      'Lifetime of an API session certificate; never longer than its session.',
    ),
  }).prefault({}),
  oidc: section('Tokens and the keys that sign them.', {
    // SPEC Limits: 30m, at least 1m.
    accessTokenDuration: duration(
      { usual: '30m', minimum: minutes(1) },
      'Lifetime of an access token.',
    ),
    idTokenDuration: duration({ usual: '30m', minimum: minutes(1) }, 'Lifetime of an ID token.'),
    // SPEC Limits: 24h, and at least one minute longer than the access token; always compared, given or default.
    refreshTokenDuration: duration(
      {
        usual: '24h',
        minimum: minutes(2),
        longerThan: { key: 'accessTokenDuration', by: minutes(1) },
      },
      'Lifetime of a refresh token; each refresh returns a new one. At least one minute longer than ' +
        '`accessTokenDuration`.',
    ),
    // D-27: off. A longer window would make every stolen token valid for as long.
    refreshRetryWindow: duration(
      { usual: '0s', minimum: seconds(0), maximum: minutes(5) },
      'How long a refresh whose response was lost may be repeated with the same token. 0s is off.',
    ),
    // D-27: 30 days. A session that ends before its first token would issue tokens that claim a longer lifetime.
    maxSessionDuration: duration(
      {
        usual: '30d',
        minimum: minutes(1),
        longerThan: { key: 'accessTokenDuration', by: seconds(0) },
      },
      'When a session ends at the latest, counted from its login. At least as long as `accessTokenDuration`.',
    ),
    signingAlgorithm: signedWith('access tokens').prefault('ES256'),
    // D-320: the algorithm that OpenID Connect requires of every provider.
    idTokenAlgorithm: signedWith('ID tokens').prefault('RS256'),
    // D-23: 90 days. If keys rotated faster than hourly, verifiers that cache the key set would not keep up.
    keyRotation: duration(
      { usual: '90d', minimum: hours(1) },
      'Age at which a signing key is replaced.',
    ),
  }).prefault({}),
  totp: section('Time-based one-time passwords.', {
    hostname: hostName(
      'What authenticator apps show as the issuer. Default: the host that the client uses.',
      'id.example.com',
    ).optional(),
  }).prefault({}),
  enrollment: section('How identities get their first credential.', {
    // D-125: a day. Under a minute, no user could enroll; a token that is valid for years is a password.
    duration: duration(
      { usual: '24h', minimum: minutes(1), maximum: days(365) },
      'How long an enrollment token is valid, unless the administrator sets another expiry.',
    ),
    // API 3.2: a year.
    certificateDuration: duration(
      { usual: '365d', minimum: hours(1) },
      'Lifetime of a certificate from an enrollment; never beyond that of its CA.',
    ),
  }).prefault({}),
  passwords: section('Hashing of passwords, the most expensive thing the service does.', {
    hashing: count(
      { from: 1, to: 64, or: 'auto' },
      'How many at the same time. `auto`: one for each core, at most three.',
    ).prefault('auto'),
    queue: count(
      { from: 0, to: 10_000 },
      'How many may wait, served in turn for each network. If it is full, the newest request of the network with the most waiting requests gets 503.',
    ).prefault(64),
    rejectCommon: flag('Whether to refuse common passwords and those made from the name.').prefault(
      true,
    ),
  }).prefault({}),
  limits: section('Limits for callers without a credential.', {
    failuresPerAddress: count(
      { from: 0, to: 1_000_000 },
      'How many wrong passwords one address may send in a minute, and how many wrong enrollment tokens. 0 means no limit.',
    ).prefault(60),
    trustedProxies: listOrNone(
      'Addresses or networks of reverse proxies, like `10.0.0.0/8`. Only their ' +
        '`X-Forwarded-For` is trusted.',
      network(),
    ),
  }).prefault({}),
  externalJwtSigners: section('Signers of external JWTs.', {
    fetch: section(
      'Where keys of signers may be fetched. Link-local addresses and those of cloud metadata ' +
        'services are always refused.',
      {
        allowHttp: flag('If true, plain `http` is allowed to other machines too.').prefault(false),
        blockPrivateAddresses: flag(
          'If true, private addresses and those of this machine are refused.',
        ).prefault(false),
        allowed: listOrNone(
          'Hosts, addresses or networks that `blockPrivateAddresses` does not apply to, ' +
            'like `idp.example.com` or `10.1.2.0/24`.',
          hostOrNetwork(),
        ),
        denied: listOrNone(
          'Hosts, addresses or networks that are always refused.',
          hostOrNetwork(),
        ),
      },
    ).prefault({}),
  }).prefault({}),
  audit: section('The audit log: logins, refused logins with the reason, and changes.', {
    // D-102, D-134: 90 days. At least one day, so that an overnight incident can still be investigated.
    retention: duration(
      { usual: '90d', minimum: days(1) },
      'How long events are kept in the database. Older ones are removed.',
    ),
    output: auditOutput(
      'Where else to write each event, as one line of JSON: nowhere, to standard output, or ' +
        'to the end of a file, which is reopened at SIGHUP.',
    ).prefault('none'),
  }).prefault({}),
}).prefault({})

export const ControllerFile = section('', {
  v: z.literal(1).register(keyFacts, { type: '1', rule: 'The version of this format.' }),
  db: database(
    'The database: a file for SQLite, or `postgres://USER:PASSWORD@HOST/NAME`. Special ' +
      'characters in user and password are percent-encoded. Several hosts are separated by commas.',
  ).prefault('latchkey.db'),
  // D-288.
  workers: count(
    { from: 1, to: 64, or: 'auto' },
    'How many processes answer requests. `auto`: one for each core, at most eight. `1` is a single process; with more, ' +
      'the first process supervises the others.',
  ).prefault('auto'),
  trustDomain: trustDomain(
    'The SPIFFE trust domain that certificates name: lower-case letters, digits, dots, dashes and ' +
      'underscores. After a change, earlier certificates are refused.',
    'example.com',
  ).prefault('latchkey'),
  secret: section(
    'Where the installation secret is, which encrypts signing keys. One of the two.',
    {
      file: filePath('A file. Created with the home.', 'secret').prefault('secret'),
      environment: variableName(
        'An environment variable, instead of a file.',
        'LATCHKEY_SECRET',
      ).optional(),
    },
  ).prefault({}),
  identity: identity(
    "The certificate of listeners that have none of their own. Default: one of the home's " +
      'own PKI. PEM files; `ca` is optional.',
    'identity',
  ),
  web: list({ rule: 'The listeners.' }, listener),
  edge,
  sso,
  branding,
  log,
  notifications,
  telemetry,
})

export type CheckedFile = z.output<typeof ControllerFile>
