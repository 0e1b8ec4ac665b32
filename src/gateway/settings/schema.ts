/**
 * The file `gateway.yml`, as operators write it: every key with its type, its default and its description, built like
 * that of `controller.yml`. docs/gateway.md is generated from this. D-390.
 *
 * A key is here only if some code reads it.
 */
import { z } from 'zod'
import { isLine } from '../../base/text.ts'
import { type Duration, days } from '../../base/time/duration.ts'
import { readDuration } from '../../config/durations.ts'
import { type Key, keysOf } from '../../config/keys.ts'
import { log } from '../../config/programs/keys.ts'
import {
  filePath,
  flag,
  hostName,
  hostPort,
  keyFacts,
  list,
  listOrNone,
  type Reading,
  section,
  text,
} from '../../config/values.ts'
import { parseControllerUrl } from '../../router/paths.ts'
import { readPrefix } from '../routing/request-path.ts'
import type { UpstreamTarget } from './settings.ts'
import { parseUpstreamUrl, UPSTREAM_NAME } from './upstream-url.ts'

const controller = text((given) =>
  parseControllerUrl(given) === undefined
    ? { ok: false, problem: 'is not https://HOST:PORT' }
    : { ok: true, value: given },
).register(keyFacts, {
  type: 'a URL',
  rule: 'The controller whose sessions are admitted: `https://HOST:PORT`.',
})

const upstreamUrl = text((given): Reading<UpstreamTarget> => {
  const value = parseUpstreamUrl(given)
  return value === undefined
    ? { ok: false, problem: 'is not http://HOST:PORT or tcp://HOST:PORT' }
    : { ok: true, value }
  // Not quoted: the value may contain a password.
}, 'never show').register(keyFacts, {
  type: 'a URL',
  rule: 'The service: `http://HOST:PORT`, or `tcp://HOST:PORT` for any other protocol.',
})

const upstreamName = text(
  (given): Reading<string> =>
    UPSTREAM_NAME.test(given)
      ? { ok: true, value: given }
      : { ok: false, problem: 'must be 1 to 63 letters, digits or hyphens inside' },
).register(keyFacts, {
  type: 'a name',
  rule: 'For logs and metrics. Unique. Default: the host of `url`, with hyphens for dots.',
  example: 'grafana',
})

const path = text(
  (given): Reading<string> =>
    readPrefix(given) !== undefined
      ? { ok: true, value: given }
      : { ok: false, problem: 'is not a path like /grafana' },
).register(keyFacts, {
  type: 'a path',
  rule: 'Only requests below this path. Whole segments count: `/a` is not `/ab`. The longest match wins.',
})

const word = (rule: string, example: string) =>
  text(
    (given): Reading<string> =>
      given.length <= 256 && isLine(given) && given !== ''
        ? { ok: true, value: given }
        : { ok: false, problem: 'must be 1 to 256 characters on one line' },
  ).register(keyFacts, { type: 'a text', rule, example })

const positiveDuration = (limits: { readonly maximum?: Duration }) =>
  text((given) => {
    const reading = readDuration(given, limits)
    return reading.ok && reading.value <= 0 ? { ok: false, problem: 'must be positive' } : reading
  })

const maxAge = positiveDuration({}).register(keyFacts, {
  type: 'a duration',
  rule: 'How long ago the caller may have signed in. Open connections stay open.',
  example: '1h',
})

/** D-403. An empty list is refused, because it could mean every caller or none. */
const require = section(
  'Who may pass: all conditions that are set must be met. Default: every session.',
  {
    identities: list(
      { rule: 'One of these identities.', example: ['k3j9'] },
      word('The id of an identity.', 'k3j9'),
    ).optional(),
    roles: list(
      { rule: 'At least one of these role attributes.', example: ['db-admins'] },
      word('A role attribute.', 'db-admins'),
    ).optional(),
    policies: list(
      { rule: 'One of these authentication policies.', example: ['default'] },
      word('The id of a policy.', 'default'),
    ).optional(),
    amr: list(
      {
        rule: 'All of these methods of authentication: `totp` for an authenticator app, or a value of RFC 8176 as in `amr` of tokens, such as `pwd` or `swk`.',
        example: ['totp'],
      },
      word('A method.', 'totp'),
    ).optional(),
    maxAge: maxAge.optional(),
  },
).prefault({})

/** Node timers hold at most 2^31 milliseconds, and fire at once for more. */
const LONGEST_IDLE: Duration = days(24)

const idle = positiveDuration({ maximum: LONGEST_IDLE }).register(keyFacts, {
  type: 'a duration',
  rule:
    'How long no byte may move on a connection before it is reset. Only for `tcp`; `24d` at most. Default: no ' +
    'limit.',
  example: '8h',
})

const upstream = section('One service.', {
  name: upstreamName.optional(),
  url: upstreamUrl,
  hosts: listOrNone(
    'Only requests to these host names. Empty: every host that no other upstream names.',
    hostName('A host name.', 'grafana.example.com'),
  ),
  path: path.prefault('/'),
  require,
  signIn: flag(
    'Browsers without credentials are sent to sign in, and pass with a cookie. Only for `http`. `false`: programs with ' +
      'certificate and token alone.',
  ).prefault(true),
  idle: idle.optional(),
})

export const GatewayFile = section('', {
  v: z.literal(1).register(keyFacts, { type: '1', rule: 'The version of this format.' }),
  controller,
  listen: hostPort(
    'interface',
    'Where to listen. `0.0.0.0` is every IPv4 interface, `[::]` every interface (IPv6 in quotes: YAML reads brackets ' +
      'as a list). Port 0 is a free port.',
  ),
  certificate: section(
    "A certificate for the listener, for example a public one. Default: that of the gateway's identity.",
    {
      cert: filePath(
        'PEM file: the certificate, then its intermediates. A new file is used without a restart.',
        'fullchain.pem',
      ),
      key: filePath('PEM file: its private key, which other users must not read.', 'key.pem'),
    },
  ).optional(),
  upstreams: listOrNone(
    'The services behind the gateway. At least one, unless `verify` is there (D-332).',
    upstream,
  ),
  verify: section(
    'Forward authentication: a proxy that you have already asks at `/.latchkey/verify` (docs/forward-auth.md). Default: off.',
    {
      listen: hostPort(
        'interface',
        'A listener for proxies, which may say for which host, path and method they ask. Plain HTTP on this machine, TLS ' +
          'with the certificate of the gateway on any other interface. Default: only at `listen`, without redirects.',
        '127.0.0.1:4180',
      ).optional(),
      jwt: flag(
        'The proxy also gets `x-latchkey-jwt`, a JWT of one minute that the service can check with ' +
          '`/.latchkey/jwks.json`.',
      ).prefault(false),
      require,
    },
  ).optional(),
  monitoring: section(
    'Health and metrics over plain HTTP: `/healthz`, `/readyz` and `/metrics`. Any caller may read them.',
    {
      listen: hostPort(
        'interface',
        'Where to listen; only your monitoring should be able to connect. Default: nowhere.',
        '127.0.0.1:9180',
      ),
    },
  ).optional(),
  log,
})

export type CheckedGatewayFile = z.output<typeof GatewayFile>

export const GATEWAY_KEYS: readonly Key[] = keysOf(GatewayFile)
