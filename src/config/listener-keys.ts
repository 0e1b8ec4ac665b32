/** The keys of one web listener: where it listens, its certificate, its connections and what it serves. D-46. */
import { days, formatDuration, seconds } from '../base/time/duration.ts'
import { BINDINGS, STRICT_TRANSPORT } from './config.ts'
import {
  duration,
  filePath,
  hostPort,
  list,
  network,
  oneOf,
  redirectPattern,
  section,
  token,
} from './values.ts'

export const identity = (rule: string, folder: string) =>
  section(rule, {
    cert: filePath('PEM file: the certificate, then its intermediates.', `${folder}/server.pem`),
    key: filePath('PEM file: its private key.', `${folder}/server.key`),
    ca: filePath(
      'PEM file: the CAs that clients need to trust the certificate. Enrolled clients get them from us.',
      `${folder}/ca.pem`,
    ).optional(),
  }).optional()

// Node's timers overflow after 24 days, and a connection that may wait for a day protects nothing.
const LONGEST_TIMEOUT = days(1)

const timeouts = section(`Timeouts of connections, at most ${formatDuration(LONGEST_TIMEOUT)}.`, {
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
    'Limit for a whole request. At least as long as `header`.',
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
      'quotes: YAML reads brackets as a list). Port 0 is a free port. Unique among listeners.',
  ),
  address: hostPort(
    'address',
    'What clients connect to. The issuer is `https://<address>/oidc`. Port 0 is the port ' +
      'of the interface. Unique among listeners.',
  ),
})

const api = section('One API.', {
  binding: oneOf(
    BINDINGS,
    'Which API. Each at most once on a listener. `console` is the web console for ' +
      'administrators; its listener needs `edge-oidc` too. Bind `metrics` only where just your ' +
      'monitoring can connect: any caller may read them.',
  ),
  options: section('Only `edge-oidc` has options. List it only to set them.', {
    redirectURIs: list(
      {
        rule:
          'Callbacks that clients may use. `*` may stand for the port; `http` only to this ' +
          'machine. A list replaces the default: `http` and `https` to `localhost`, ' +
          '`127.0.0.1` and `[::1]`, any port, any path.',
        example: ['https://app.example.com/callback', 'http://127.0.0.1:*/callback'],
      },
      redirectPattern(),
    ).optional(),
    postLogoutURIs: list(
      {
        rule: 'Where a logout may redirect to. The same form and the same default as `redirectURIs`.',
        example: ['https://app.example.com/signed-out'],
      },
      redirectPattern(),
    ).optional(),
  }).prefault({}),
})

export const listener = section('One listener.', {
  name: token('For logs and messages. Unique among listeners.'),
  bindPoints: list(
    { rule: 'Where the listener listens, and its addresses for clients.' },
    bindPoint,
  ),
  identity: identity(
    'A certificate for this listener only, for example a public one. Default: the one at ' +
      'the top of the file. PEM files; `ca` is optional.',
    'public',
  ),
  options: section('Settings of connections.', {
    minTLSVersion: oneOf(['TLS1.2', 'TLS1.3'], 'The oldest TLS version that is accepted.').prefault(
      'TLS1.2',
    ),
    maxTLSVersion: oneOf(['TLS1.2', 'TLS1.3'], 'The newest TLS version that is accepted.').prefault(
      'TLS1.3',
    ),
    strictTransportSecurity: oneOf(
      STRICT_TRANSPORT,
      'Whether to tell browsers to use only https for this host (HSTS), for a year. `auto`: if ' +
        'the certificate chains to a public root. It applies to every port of the host.',
    ).prefault('auto'),
    timeouts,
  }).prefault({}),
  proxyProtocol: section(
    'For a load balancer that passes TLS through: each connection begins with a PROXY header of version 2, ' +
      'which contains the address of the client.',
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
