/** What is refused about listeners, as a table. SPEC Authentication 8 to 10, D-2, D-8, D-43. */
import assert from 'node:assert/strict'
import { LISTENER, OTHER, POINT, testRefusals } from '../../test/support/process/config-home.ts'
import { parseRedirectPattern } from '../protocol/redirect-uri.ts'

const NEEDS_OIDC =
  'needs edge-oidc on the same listener; list edge-oidc there, and on every other listener that should have it'
const NOT_THERE = 'names a file that is not there or not readable'
const NOT_HOST_PORT = 'is not HOST:PORT; write it like id.example.com:1280 or [::1]:1280'
const NOT_A_NAME = 'must be 1 to 64 letters, digits, dots, hyphens or underscores'
const LIST = 'must be a list of 1 to 256 entries'
const listener = (change: object): object => ({ v: 1, web: [{ ...LISTENER, ...change }] })
const point = (change: object): object => listener({ bindPoints: [{ ...POINT, ...change }] })
const redirects = (...redirectURIs: unknown[]): object =>
  listener({ apis: [{ binding: 'edge-oidc', options: { redirectURIs } }] })
const postLogout = (...postLogoutURIs: unknown[]): object =>
  listener({ apis: [{ binding: 'edge-oidc', options: { postLogoutURIs } }] })
const proxied = (trustedSources: unknown): object => listener({ proxyProtocol: { trustedSources } })
const SOURCES = 'web[0].proxyProtocol.trustedSources'
const NOT_A_NETWORK = 'is not an address or network; write it like 10.1.2.3 or 10.0.0.0/8'
const REDIRECT = 'web[0].apis[0].options.redirectURIs'
const POST_LOGOUT = 'web[0].apis[0].options.postLogoutURIs'

testRefusals([
  [
    'a key without a certificate',
    listener({ identity: { key: 'pem/key.pem' } }),
    ['web[0].identity.cert', 'is missing'],
  ],
  [
    'files that are not there, or are folders',
    listener({ identity: { cert: 'pem/none.pem', key: 'pem', ca: 'none/ca.pem' } }),
    ['web[0].identity.cert', NOT_THERE],
    ['web[0].identity.key', NOT_THERE],
    ['web[0].identity.ca', NOT_THERE],
  ],
  [
    'an address of the API that no listener has',
    { v: 1, web: [LISTENER], edge: { api: { address: 'id.example.com:1280' } } },
    ['edge.api.address', 'is not an address of a listener with edge-client'],
  ],
  [
    'an address of the API that a listener without it has',
    { v: 1, web: [LISTENER, OTHER], edge: { api: { address: 'localhost:1281' } } },
    ['edge.api.address', 'is not an address of a listener with edge-client'],
  ],
  [
    'an address of the API that is not valid',
    { v: 1, web: [LISTENER], edge: { api: { address: 'localhost' } } },
    ['edge.api.address', `"localhost" ${NOT_HOST_PORT}`],
  ],
  [
    'a console whose administrators could not sign in',
    { v: 1, web: [LISTENER, { ...OTHER, apis: [{ binding: 'console' }] }] },
    ['web[1].apis[0].binding', NEEDS_OIDC],
  ],
  [
    'a console beside clients whose provider is listed elsewhere',
    {
      v: 1,
      web: [
        { ...LISTENER, apis: [{ binding: 'edge-client' }, { binding: 'console' }] },
        { ...OTHER, apis: [{ binding: 'edge-oidc' }] },
      ],
    },
    ['web[0].apis[1].binding', NEEDS_OIDC],
  ],
  ['no listeners', { v: 1 }, ['web', 'is missing']],
  ['an empty list of listeners', { v: 1, web: [] }, ['web', LIST]],
  ['a listener that is not a map', { v: 1, web: ['one'] }, ['web[0]', 'must be a map of keys']],
  ['a listener without a name', listener({ name: undefined }), ['web[0].name', 'is missing']],
  ['a name with a space', listener({ name: 'a b' }), ['web[0].name', `"a b" ${NOT_A_NAME}`]],
  ['no bind points', listener({ bindPoints: [] }), ['web[0].bindPoints', LIST]],
  ['no APIs', listener({ apis: [] }), ['web[0].apis', LIST]],
  ['APIs that are not a list', listener({ apis: {} }), ['web[0].apis', LIST]],
  [
    'too many bind points',
    listener({
      bindPoints: Array.from({ length: 257 }, (_, i) => ({ ...POINT, address: `a${i}:1` })),
    }),
    ['web[0].bindPoints', LIST],
  ],
  [
    'an interface without a port',
    point({ interface: '127.0.0.1' }),
    ['web[0].bindPoints[0].interface', `"127.0.0.1" ${NOT_HOST_PORT}`],
  ],
  [
    'IPv6 without brackets',
    point({ interface: '::1:1280' }),
    ['web[0].bindPoints[0].interface', `"::1:1280" ${NOT_HOST_PORT}`],
  ],
  [
    'an address with a scheme',
    point({ address: 'https://a:1' }),
    ['web[0].bindPoints[0].address', `"https://a:1" ${NOT_HOST_PORT}`],
  ],
  [
    'a bind point without an address',
    point({ address: undefined }),
    ['web[0].bindPoints[0].address', 'is missing'],
  ],
  [
    'an address that no client can connect to',
    point({ address: '0.0.0.0:1280' }),
    [
      'web[0].bindPoints[0].address',
      '"0.0.0.0:1280" stands for every interface; clients need an address to connect to',
    ],
  ],
  [
    'a bind point twice on one listener',
    listener({ bindPoints: [POINT, { ...POINT, address: 'LOCALHOST:0' }] }),
    ['web[0].bindPoints[1]', 'repeats an earlier bind point of this listener'],
  ],
  [
    'two listeners with one name',
    { v: 1, web: [LISTENER, { ...OTHER, name: 'one' }] },
    ['web[1].name', '"one" is the name of web[0] too; give each listener its own'],
  ],
  [
    'two listeners on one interface',
    { v: 1, web: [LISTENER, { ...OTHER, bindPoints: [{ ...POINT, address: 'a.example:1' }] }] },
    [
      'web[1].bindPoints[0].interface',
      '"127.0.0.1:1280" is listened on by web[0] too; give each listener its own',
    ],
  ],
  [
    'two listeners with one address, spelt differently',
    {
      v: 1,
      web: [
        { ...LISTENER, bindPoints: [{ interface: '127.0.0.1:1', address: '[::1]:1280' }] },
        { ...OTHER, bindPoints: [{ interface: '127.0.0.1:2', address: '[0:0::1]:1280' }] },
      ],
    },
    [
      'web[1].bindPoints[0].address',
      '"[::1]:1280" is an address of web[0] too; give each listener its own',
    ],
  ],
  [
    'a binding that does not exist',
    listener({ apis: [{ binding: 'fabric' }] }),
    [
      'web[0].apis[0].binding',
      'must be `edge-client`, `edge-management`, `edge-oidc`, `console`, `health-checks` or `metrics`',
    ],
  ],
  [
    'a binding twice on one listener',
    listener({ apis: [{ binding: 'edge-client' }, { binding: 'edge-client' }] }),
    ['web[0].apis[1].binding', 'is on this listener twice'],
  ],
  [
    'redirect URIs on another binding',
    listener({
      apis: [{ binding: 'edge-client', options: { redirectURIs: ['https://a.example/'] } }],
    }),
    [REDIRECT, 'is an option of the binding edge-oidc alone'],
  ],
  [
    'post-logout URIs on another binding',
    listener({
      apis: [{ binding: 'edge-management', options: { postLogoutURIs: ['https://a.example/'] } }],
    }),
    [POST_LOGOUT, 'is an option of the binding edge-oidc alone'],
  ],
  ['an empty list of post-logout URIs', postLogout(), [POST_LOGOUT, LIST]],
  [
    // R010, R011: where a logout leads is as closed as where a login leads.
    'post-logout URIs with * as a host and over plain http',
    postLogout('https://*/', 'https://ok.example/', 'http://app.example.com/'),
    [`${POST_LOGOUT}[0]`, redirectProblem('https://*/')],
    [`${POST_LOGOUT}[2]`, redirectProblem('http://app.example.com/')],
  ],
  ['an empty list of redirect URIs', redirects(), [REDIRECT, LIST]],
  ['a redirect URI that is a number', redirects(5), [`${REDIRECT}[0]`, 'must be text']],
  [
    // R010
    'a redirect URI with * as its host',
    redirects('https://ok.example/', 'https://*.example/'),
    [`${REDIRECT}[1]`, redirectProblem('https://*.example/')],
  ],
  [
    // R011
    'a redirect URI over plain http',
    redirects('http://app.example.com/'),
    [`${REDIRECT}[0]`, redirectProblem('http://app.example.com/')],
  ],
  [
    'an old TLS',
    listener({ options: { minTLSVersion: 'TLS1.1' } }),
    ['web[0].options.minTLSVersion', 'must be `TLS1.2` or `TLS1.3`'],
  ],
  [
    'TLS versions the wrong way round',
    listener({ options: { minTLSVersion: 'TLS1.3', maxTLSVersion: 'TLS1.2' } }),
    ['web[0].options.minTLSVersion', 'is newer than maxTLSVersion'],
  ],
  [
    'a time-out of more than a day',
    listener({ options: { timeouts: { idle: '25h' } } }),
    ['web[0].options.timeouts.idle', '"25h" is too long; 1d at most'],
  ],
  // D-208: believed by mistake, a header lets a client choose its address.
  ['a PROXY protocol without sources', listener({ proxyProtocol: {} }), [SOURCES, 'is missing']],
  ['a PROXY protocol with no sources', proxied([]), [SOURCES, LIST]],
  ['a PROXY protocol with one source', proxied('10.0.0.1'), [SOURCES, LIST]],
  [
    'sources of a PROXY protocol that are not networks',
    proxied(['10.0.0.1', 'balancer.example.com', '10.1.2.3/8', '', 10]),
    [`${SOURCES}[1]`, `"balancer.example.com" ${NOT_A_NETWORK}`],
    [`${SOURCES}[2]`, `"10.1.2.3/8" ${NOT_A_NETWORK}`],
    [`${SOURCES}[3]`, `"" ${NOT_A_NETWORK}`],
    [`${SOURCES}[4]`, 'must be text'],
  ],
  [
    'a PROXY protocol that is not a map',
    listener({ proxyProtocol: true }),
    ['web[0].proxyProtocol', 'must be a map of keys'],
  ],
])

/** The sentence is worded beside the rule; here it counts that it arrives. */
function redirectProblem(text: string): string {
  const reading = parseRedirectPattern(text)
  assert.ok(!reading.ok)
  assert.ok(reading.problem.includes(text))
  return reading.problem
}
