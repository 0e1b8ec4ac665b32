/**
 * The most expensive requests that fit the limits, made from a normal one: 64 KiB of body, 30 KiB of header fields or
 * query, 256 fields. Each aims at a reader that could be made to work more than once on the same bytes.
 */
import type { Route } from '../../../src/http/route.ts'
import { addressOf } from '../everything.ts'
import { foreignJwt, type NormalRequest, type Pairs } from './normal-requests.ts'

const BODY = 64 * 1024
/** Below the 32 KiB that a listener reads, with room for the other fields. */
const HEAD = 30 * 1024

/** A request as it goes over the wire. */
export interface Sent {
  readonly what: string
  readonly bytes: Buffer
}

interface Parts {
  readonly query?: Pairs
  readonly headers?: Pairs
  readonly type?: string
  readonly body?: string
}

const TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  text: 'text/plain',
  pem: 'application/pkcs10',
} as const

/** As programs and browsers send them. */
const USUAL_HEADERS: Pairs = [
  ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
  ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ['Accept-Encoding', 'gzip, deflate, br'],
  ['Accept-Language', 'en-US,en;q=0.5'],
]

export function normalRequest(route: Route, normal: NormalRequest, host: string): Sent {
  return { what: 'normal', bytes: wire(route, normalParts(route, normal), host) }
}

/** One after the other: a hundred of 64 KiB each, kept for a while, make the garbage collector work more than the test. */
export function* worstRequests(
  route: Route,
  normal: NormalRequest,
  host: string,
): Generator<Sent, void> {
  const base = normalParts(route, normal)
  const made = (what: string, parts: Parts): Sent => ({
    what,
    bytes: wire(route, { ...base, ...parts }, host),
  })

  for (const [what, headers] of Object.entries(WORST_HEADERS)) yield made(what, { headers })
  for (const [what, text] of Object.entries(WORST_QUERIES)) {
    yield made(`query: ${what}`, { query: [...(base.query ?? []), ['', text]] })
  }
  for (const [name, usual] of base.query ?? []) {
    for (const [what, value] of Object.entries(WORST_VALUES)) {
      yield made(`query ${name}: ${what}`, {
        query: replaced(base.query ?? [], name, value(HEAD - 1_000, usual)),
      })
    }
  }
  if (route.method === 'GET') {
    yield made('a body, where there should be none', {
      type: TYPES.json,
      body: `"${'x'.repeat(BODY - 2)}"`,
    })
    return
  }
  for (const kind of route.reads) {
    for (const [what, body] of Object.entries(WORST_BODIES[kind])) {
      yield made(`${kind}: ${what}`, { type: TYPES[kind], body })
    }
    if (kind !== 'json' && kind !== 'form') continue
    for (const [name, usual] of normal.fields ?? []) {
      for (const [what, value] of Object.entries(WORST_VALUES)) {
        const left = BODY - encoded(kind, replaced(normal.fields ?? [], name, '')).length
        const body = encoded(kind, replaced(normal.fields ?? [], name, value(left - 100, usual)))
        yield made(`${kind} ${name}: ${what}`, { type: TYPES[kind], body })
      }
    }
  }
}

/** Logins that get as far as hashing the password: first a normal one, then the worst that it takes. D-12 bounds both fields. */
export function hashedRequests(
  route: Route,
  { query, fields = [] }: NormalRequest,
  host: string,
): readonly Sent[] {
  const request = (
    what: string,
    changes: Readonly<Record<string, string>>,
    headers: Pairs = [],
  ) => {
    const all = { ...Object.fromEntries(fields), password: 'not the password', ...changes }
    const body = JSON.stringify(all)
    const parts = { ...(query && { query }), headers, type: TYPES.json, body }
    return { what, bytes: wire(route, parts, host) }
  }
  const pile = (length: number) => 'a\u0315\u0300\u05ae\u0301'.repeat(length).slice(0, length)
  const device = WORST_HEADERS['Cookie: a device of many entries']
  const members = Object.fromEntries(
    Array.from({ length: 240 }, (_, i) => [`x${i}`, 'x'.repeat(200)]),
  )
  return [
    request('normal', {}),
    request('a username that NFKC makes longer', { username: '\ufdfa'.repeat(256) }),
    request('a username of combining characters', { username: pile(256) }),
    request('a password that NFKC makes longer', { password: '\ufdfa'.repeat(1024) }),
    request('a password of combining characters', { password: pile(1024) }),
    request('a refresh token of another kind', { refresh_token: 'x'.repeat(512) }),
    request('a device of many entries', {}, device),
    request('many members besides', members),
  ]
}

function replaced(fields: Pairs, name: string, value: string): Pairs {
  return fields.map(([one, normal]) => [one, one === name ? value : normal])
}

function normalParts(route: Route, { query, headers, fields, text }: NormalRequest): Parts {
  const head = { ...(query && { query }), ...(headers && { headers }) }
  if (text !== undefined && route.reads.includes('text')) {
    return { ...head, type: TYPES.text, body: text }
  }
  if (fields === undefined) return head
  const kind = route.reads.includes('json') ? 'json' : 'form'
  return { ...head, type: TYPES[kind], body: encoded(kind, fields) }
}

/** Values are encoded already, so that each fits its place to the byte. */
function encoded(kind: 'json' | 'form', fields: Pairs): string {
  const sent = fields.filter(([, value]) => value !== '')
  if (kind === 'form') return sent.map(([name, value]) => `${name}=${escaped(value)}`).join('&')
  return `{${sent.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)}}`
}

function wire(route: Route, { query = [], headers = [], type, body }: Parts, host: string): Buffer {
  const text = query
    .map(([name, value]) => (name === '' ? value : `${name}=${escaped(value)}`))
    .join('&')
  const target = `${addressOf(route)}${text === '' ? '' : `?${text}`}`
  const replacing = new Set(headers.map(([name]) => name.toLowerCase()))
  const fields: Pairs = [
    ['Host', host],
    ...USUAL_HEADERS.filter(([name]) => !replacing.has(name.toLowerCase())),
    ...headers.filter(([, value]) => value !== ''),
    ...(type === undefined ? [] : ([['Content-Type', type]] as const)),
    ...(body === undefined ? [] : ([['Content-Length', String(Buffer.byteLength(body))]] as const)),
  ]
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = `${route.method} ${target} HTTP/1.1\r\n${lines}\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body ?? '')])
}

/** Leaves alone what a query and a form may hold as it is. */
const escaped = (value: string) => value.replaceAll(/[^\w\-.~%(),]+/g, encodeURIComponent)

/** `text` as often as it fits. */
const fill = (text: string, size: number) => text.repeat(Math.floor(size / Buffer.byteLength(text)))

/** Values of one field, by how much room there is once they are escaped. */
const WORST_VALUES: Readonly<Record<string, (size: number, normal: string) => string>> = {
  'one letter': (size) => 'x'.repeat(size),
  dots: (size) => '.'.repeat(size),
  'words of one letter': (size) => fill('x ', size / 2),
  'openid and words of one letter': (size) => `openid${fill(' x', size / 2 - 10)}`,
  commas: (size) => 'x,'.repeat(size / 2 - 1),
  brackets: (size) => '('.repeat(size),
  'what NFKC makes 18 times longer': (size) => fill('\ufdfa', size / 3),
  'a pile of combining characters': (size) => `a${fill('\u0315\u0300\u05ae\u0301', size / 3 - 20)}`,
  'a URI full of slashes': (size) => `http://127.0.0.1:9876/${'/'.repeat(size / 3 - 30)}`,
  'a JWT with deep JSON': (size) => {
    const deep = Math.floor(size / 6)
    return `${base64url('['.repeat(deep))}.${base64url('['.repeat(deep))}.x`
  },
  'a JWT with many claims': (size) =>
    foreignJwt(Object.fromEntries(Array.from({ length: Math.floor(size / 30) }, (_, i) => [i, i]))),
  // Of a key that the service knows: it has to be verified.
  'the same JWT with a long claim': (size, normal) => {
    const [header = '', , signature = ''] = normal.split('.')
    return `${header}.${base64url(`{"x":"${'x'.repeat(size / 2)}"}`)}.${signature}`
  },
}

const base64url = (text: string) => Buffer.from(text).toString('base64url')

const WORST_HEADERS: Readonly<Record<string, Pairs>> = {
  'Accept: many media ranges': [['Accept', fill('a/b,', HEAD)]],
  'Accept: many ranges that match': [['Accept', fill('*/*;q=0.1,', HEAD)]],
  'Accept: an open quote and commas': [['Accept', `a/b;c="${fill(',', HEAD)}`]],
  'Accept: an open quote and semicolons': [['Accept', `a/b;c="${fill(';', HEAD)}`]],
  'Accept: many parameters': [['Accept', `a/b${fill(';c=d', HEAD)}`]],
  'Accept: spaces': [['Accept', `text/html${' '.repeat(HEAD)}x`]],
  'Accept: slashes': [['Accept', fill('/', HEAD)]],
  'Accept-Encoding: many codings': [['Accept-Encoding', fill('a,', HEAD)]],
  'Accept-Encoding: none': [['Accept-Encoding', '']],
  'Accept-Language: many languages': [['Accept-Language', fill('a;q=0.1,', HEAD)]],
  'Authorization: three huge JWTs': Array.from({ length: 3 }, () => [
    'Authorization',
    `Bearer ${foreignJwt({ x: 'x'.repeat(HEAD / 5) })}`,
  ]),
  'Authorization: a JWT with deep JSON': [
    [
      'Authorization',
      `Bearer ${base64url('['.repeat(HEAD / 3))}.${base64url('['.repeat(HEAD / 3))}.x`,
    ],
  ],
  'Authorization: many bearers': [['Authorization', fill('Bearer x.y.z,', HEAD)]],
  'Authorization: spaces': [['Authorization', `Bearer x${' '.repeat(HEAD)}y`]],
  'Authorization: Basic and spaces': [['Authorization', `Basic ${' '.repeat(HEAD)}x y`]],
  'Authorization: Basic and colons': [['Authorization', `Basic ${btoa(':'.repeat(HEAD / 2))}`]],
  'zt-session: long': [['zt-session', 'x'.repeat(HEAD)]],
  'Cookie: nothing but semicolons': [['Cookie', fill(';', HEAD)]],
  'Cookie: hundreds of logins under way': [
    ['Cookie', fill(`__Host-latchkey-account-login-${'x'.repeat(22)}=x; `, HEAD)],
  ],
  'Cookie: one large session': [['Cookie', `__Host-latchkey-account=${'x'.repeat(HEAD)}`]],
  'Cookie: a device of many entries': [
    [
      'Cookie',
      `__Host-latchkey-device=${fill(`${'x'.repeat(80)}.`, 4096)}; ${fill('x;', HEAD / 2)}`,
    ],
  ],
  'If-None-Match: many tags': [['If-None-Match', fill('W/"",', HEAD)]],
  'X-Forwarded-For: many addresses': [['X-Forwarded-For', fill('1.1.1.1,', HEAD)]],
  'User-Agent: long': [['User-Agent', 'x'.repeat(HEAD)]],
  'Origin: long': [['Origin', `https://${'x.'.repeat(HEAD / 2)}`]],
  'traceparent and tracestate: long': [
    ['traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`],
    ['tracestate', fill('a=b,', HEAD)],
  ],
  // Node adds something to the size of each: a thousand would not fit.
  'many header fields': Array.from({ length: 800 }, (_, i) => [`x-${i}`, 'y']),
  'many fetch metadata': Array.from({ length: 500 }, (_, i) => [`sec-fetch-${i}`, 'y']),
}

const pairs = (value: string) => Array.from({ length: 200 }, (_, i) => `x${i}=${value}`).join('&')

const WORST_QUERIES: Readonly<Record<string, string>> = {
  'many escaped fields': pairs('%C3%A9'.repeat(20)),
  'one name again and again': Array(200)
    .fill(`x=${'%61'.repeat(40)}`)
    .join('&'),
  'one long escaped value': `x=${fill('%F0%9F%98%80', HEAD - 200)}`,
  'plus signs': `x=${fill('+', HEAD - 200)}`,
}

const WORST_FORMS = {
  'many escaped fields': pairs('%C3%A9'.repeat(52)),
  'one long escaped value': `x=${fill('%F0%9F%98%80', BODY - 2)}`,
  'a broken escape at the end': `x=${fill('%61', BODY - 6)}%`,
  'plus signs': `x=${fill('+', BODY - 2)}`,
  'nothing but separators': '&'.repeat(BODY),
  'one long name': 'x'.repeat(BODY),
}

const WORST_JSON = {
  'many members': `{${Array.from({ length: 250 }, (_, i) => `"${i}${'x'.repeat(240)}":"${i}"`)}}`,
  'members with escaped names': `{${Array.from({ length: 250 }, (_, i) => `"${i}${'\\u0061'.repeat(40)}":1`)}}`,
  'one long escaped text': `{"x":"${fill('\\u0061', BODY - 10)}"}`,
  'one long text that is not Latin': `{"x":"${fill('\ufdfa', BODY - 10)}"}`,
  'a number of many digits': `{"x":${'7'.repeat(BODY - 8)}}`,
  'a small number of many digits': `{"x":0.${'0'.repeat(BODY - 20)}7}`,
  'blanks before a fault': `${' '.repeat(BODY - 1)}x`,
  'as deep as it may be, in blanks': `${'[ '.repeat(32)}${' '.repeat(BODY - 200)}${' ]'.repeat(32)}`,
  'deeper than it may be': '['.repeat(BODY),
  backslashes: `"${fill('\\\\', BODY - 2)}"`,
  'one member again and again': `{${Array(250).fill('"x":1').join()}}`,
  'many commas': `[${','.repeat(BODY - 2)}]`,
}

const PEM = [
  '-----BEGIN CERTIFICATE REQUEST-----\n',
  '-----END CERTIFICATE REQUEST-----\n',
] as const

const WORST_TEXTS = {
  'one letter': 'x'.repeat(BODY),
  'first lines of PEM alone': fill(PEM[0], BODY),
  'whole empty blocks': fill(PEM.join(''), BODY),
  blanks: `${PEM[0]}${' '.repeat(BODY - 100)}${PEM[1]}`,
  'base64 of nothing': `${PEM[0]}${'A'.repeat(16_000)}\n${PEM[1]}`,
  'deep DER': `${PEM[0]}${Buffer.from('3080'.repeat(5_900), 'hex').toString('base64')}\n${PEM[1]}`,
  'many empty DER values': `${PEM[0]}${manyDerValues()}\n${PEM[1]}`,
}

/** A sequence of a sequence of as many empty sets as fit the 16 KiB of a CSR. */
function manyDerValues(): string {
  const sets = Buffer.from('3100'.repeat(5_800), 'hex')
  const long = (tag: number, content: Buffer) =>
    Buffer.concat([Buffer.from([tag, 0x82, content.length >> 8, content.length & 255]), content])
  return long(
    0x30,
    long(0x30, Buffer.concat([Buffer.from('020100', 'hex'), long(0x30, sets)])),
  ).toString('base64')
}

const WORST_BODIES: Readonly<Record<keyof typeof TYPES, Readonly<Record<string, string>>>> = {
  json: WORST_JSON,
  form: WORST_FORMS,
  text: WORST_TEXTS,
  pem: WORST_TEXTS,
}
