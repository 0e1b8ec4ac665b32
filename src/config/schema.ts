/**
 * The file `controller.yml`, as people write it: every key with its kind of value, its default and
 * what people are told about it. `docs/configuration.md` and the file in a new home are made from
 * this. D-46.
 *
 * A key is here only when some code reads it. A new key has a default that keeps yesterday's file
 * working.
 */
import { z } from 'zod'
import { formatDuration } from '../base/duration.ts'
import { BINDINGS, LOG_FORMATS, LOG_LEVELS, SIGNING_ALGORITHMS } from './config.ts'
import { DURATION_RULES } from './durations.ts'
import {
  count,
  database,
  duration,
  filePath,
  flag,
  hostPort,
  keyFacts,
  list,
  oneOf,
  origin,
  redirectPattern,
  section,
  token,
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

const LONGEST_TIMEOUT = formatDuration(DURATION_RULES.header.maximum)

const timeouts = section(`Time-outs of connections, ${LONGEST_TIMEOUT} at most.`, {
  header: duration(DURATION_RULES.header, 'Until the header of a request is there.'),
  request: duration(
    DURATION_RULES.request,
    'Until a whole request is there. At least as long as `header`.',
  ),
  idle: duration(DURATION_RULES.idle, 'How long a connection may wait for its next request.'),
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
  binding: oneOf(BINDINGS, 'Which API. Each at most once on a listener.'),
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
    timeouts,
  }).prefault({}),
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
  }).prefault({}),
  oidc: section('Tokens and the keys that sign them.', {
    accessTokenDuration: duration(DURATION_RULES.accessTokenDuration, 'Life of an access token.'),
    idTokenDuration: duration(DURATION_RULES.idTokenDuration, 'Life of an ID token.'),
    signingAlgorithm: oneOf(
      SIGNING_ALGORITHMS,
      'How tokens are signed. A change takes effect with a new key.',
    ).prefault('ES256'),
    keyRotation: duration(DURATION_RULES.keyRotation, 'Age at which a signing key is replaced.'),
  }).prefault({}),
  passwords: section('Hashing of passwords, the most expensive thing the service does.', {
    hashing: count(
      { from: 1, to: 64, or: 'auto' },
      'How many at the same time. `auto`: one for each core, three at most.',
    ).prefault('auto'),
    queue: count(
      { from: 0, to: 10_000 },
      'How many may wait. A login beyond that is answered 503.',
    ).prefault(64),
  }).prefault({}),
}).prefault({})

export const ControllerFile = section('', {
  v: z.literal(1).register(keyFacts, { type: '1', rule: 'The version of this format.' }),
  db: database(
    'The database: a file for SQLite, or `postgres://USER:PASSWORD@HOST/NAME`. Special ' +
      'characters in user and password are percent-encoded.',
  ).prefault('latchkey.db'),
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
})

export type CheckedFile = z.output<typeof ControllerFile>
