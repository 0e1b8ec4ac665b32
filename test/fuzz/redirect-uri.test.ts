/**
 * Properties of redirect URI matching (D-8): it never throws, and whatever it lets through is what every
 * reader of the text sees. The judge is the WHATWG parser, which is what browsers use.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  DEFAULT_REDIRECT_PATTERNS,
  formActionSource,
  matchesRedirect,
  parseRedirectPattern,
  type RedirectPattern,
} from '../../src/protocol/redirect-uri.ts'
import { rounds } from '../support/chance/rounds.ts'

// Short in CI, long on demand.
fc.configureGlobal({ numRuns: rounds(1000) })

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

const anyText = fc.string({ unit: 'binary', maxLength: 60 })
// Texts made of the pieces that matter to a parser get much further than random ones.
const pieces = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...[
          'http://',
          'https://',
          'HTTP://',
          'http:',
          'com.example.app:/',
          'javascript:',
          '//',
          '\\',
        ],
        ...[
          'localhost',
          '127.0.0.1',
          '[::1]',
          '127.1',
          'LOCALHOST',
          'app.example.com',
          'evil.example',
        ],
        ...[
          ':',
          ':80',
          ':443',
          ':8080',
          ':65535',
          ':65536',
          ':*',
          '*',
          '@',
          '#',
          '?',
          '/',
          '.',
          '..',
        ],
        ...[
          '%2e',
          '%2F',
          '%5c',
          '%00',
          '%',
          '\t',
          '\n',
          '\0',
          ' ',
          '。',
          'ｌ',
          ';',
          ',',
          "'",
          '&',
          '=',
        ],
      ),
      anyText,
    ),
    { maxLength: 7 },
  )
  .map((parts) => parts.join(''))
/** A URI of which every part may be sound or not. */
const doubtfulUri = fc
  .tuple(
    fc.constantFrom(
      'http://',
      'https://',
      'Http://',
      'http:/',
      'http:\\\\',
      'ftp://',
      'com.example.app://',
    ),
    fc.constantFrom('', '', '', '@', 'user@', 'user:pass@', 'localhost:1@'),
    fc.constantFrom(
      ...[
        'localhost',
        '127.0.0.1',
        '[::1]',
        'LocalHost',
        'localhost.',
        '127.1',
        '0x7f.1',
        'ｌocalhost',
      ],
      ...[
        '[0::1]',
        'localhost.evil.example',
        '127.0.0.1.evil.example',
        'evil.example',
        'a;b.example',
      ],
    ),
    fc.constantFrom('', '', ':', ':80', ':443', ':8080', ':08080', ':65535', ':65536', ':*', ':x'),
    fc.constantFrom(
      '',
      '/',
      '/callback',
      '//',
      '/a/../b',
      '/a%2Fb',
      '/a%2eb',
      '/a\\b',
      '/a b',
      '/é',
      '/%',
    ),
    fc.constantFrom('', '', '?', '?a=b', '?a\\b', '?a b', "?'", '#', '#a', '?@', '\n'),
  )
  .map((parts) => parts.join(''))
const text = fc.oneof(doubtfulUri, pieces, anyText)

const segment = fc.stringMatching(/^[a-zA-Z0-9_~-]{0,8}$/)
const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`)
const query = fc.option(
  fc.stringMatching(/^[a-z0-9=&/._~-]{0,12}$/).map((pairs) => `?${pairs}`),
  { nil: '' },
)
const port = fc.option(
  fc.integer({ min: 1024, max: 65535 }).map((number) => `:${number}`),
  { nil: '' },
)
const loopbackUri = fc
  .tuple(fc.constantFrom('http', 'https'), fc.constantFrom(...LOOPBACK), port, path, query)
  .map(([scheme, host, at, where, what]) => `${scheme}://${host}${at}${where}${what}`)
const exactUri = fc.oneof(
  loopbackUri,
  fc
    .tuple(port, path, query)
    .map(([at, where, what]) => `https://app.example.com${at}${where}${what}`),
  fc.tuple(path, query).map(([where, what]) => `com.example.app:${where}${what}`),
)

/** A small difference, such as a slip or an attacker makes. */
const edit: fc.Arbitrary<(uri: string) => string> = fc.oneof(
  fc
    .tuple(
      fc.nat(),
      fc.nat(1),
      fc.oneof(fc.string({ maxLength: 1 }), fc.constantFrom('?', '/', '.', ':1')),
    )
    .map(([place, cut, inserted]) => (uri: string) => {
      const at = place % (uri.length + 1)
      return uri.slice(0, at) + inserted + uri.slice(at + cut)
    }),
  fc.nat().map((place) => (uri: string) => {
    const at = place % uri.length
    const character = uri.charAt(at)
    const lower = character.toLowerCase()
    return (
      uri.slice(0, at) + (character === lower ? character.toUpperCase() : lower) + uri.slice(at + 1)
    )
  }),
  fc.constantFrom('', '?', '/', '?a=b', '&a=b').map((end) => (uri: string) => uri + end),
  fc.constant((uri: string) =>
    uri.startsWith('https:') ? uri.replace('https:', 'http:') : uri.replace('http:', 'https:'),
  ),
  fc.constantFrom(...LOOPBACK).map((host) => (uri: string) => {
    return uri.replace(/localhost|127\.0\.0\.1|\[::1\]/, host)
  }),
)

function patternOf(entry: string): RedirectPattern {
  const reading = parseRedirectPattern(entry)
  assert.ok(reading.ok, reading.ok ? '' : reading.problem)
  return reading.pattern
}

const allowedByDefault = (uri: string): boolean =>
  DEFAULT_REDIRECT_PATTERNS.some((pattern) => matchesRedirect(pattern, uri))

test('neither reading a pattern nor matching throws, whatever the text', () => {
  const patterns = [
    ...DEFAULT_REDIRECT_PATTERNS,
    patternOf('http://127.0.0.1:*/callback'),
    patternOf('https://app.example.com/callback'),
    patternOf('com.example.app:/callback'),
  ]
  fc.assert(
    fc.property(text, (uri) => {
      for (const pattern of patterns) assert.equal(typeof matchesRedirect(pattern, uri), 'boolean')
      assert.equal(typeof parseRedirectPattern(uri).ok, 'boolean')
      assert.equal(typeof formActionSource(uri), 'string')
    }),
  )
})

test('whatever a default pattern allows is on this machine, without credentials or fragment', () => {
  fc.assert(
    fc.property(fc.oneof(text, loopbackUri), (uri) => {
      if (!allowedByDefault(uri)) return
      const url = new URL(uri)
      assert.ok(LOOPBACK.includes(url.hostname), url.hostname)
      assert.match(url.protocol, /^https?:$/)
      assert.deepEqual([url.username, url.password, url.hash], ['', '', ''])
      assert.doesNotMatch(uri, /[#\\\s]/)
    }),
  )
})

test('whatever is allowed is its own serialisation, a missing trailing slash aside', () => {
  fc.assert(
    fc.property(fc.oneof(text, loopbackUri), (uri) => {
      if (!allowedByDefault(uri)) return
      const { href } = new URL(uri)
      assert.ok(href === uri || href === `${uri}/`, href)
    }),
  )
})

test('a callback to this machine is allowed, on any port, path and query', () => {
  fc.assert(fc.property(loopbackUri, (uri) => assert.equal(allowedByDefault(uri), true)))
})

test('one hostile change makes an allowed URI refused', () => {
  const hostile: fc.Arbitrary<(uri: string, at: number) => string> = fc.oneof(
    // Control characters, spaces, backslashes and characters beyond ASCII, anywhere.
    fc
      .oneof(
        fc.integer({ min: 0, max: 0x20 }).map((code) => String.fromCharCode(code)),
        fc.constantFrom(
          '\x7f',
          '\\',
          '"',
          '<',
          '>',
          '^',
          '`',
          '{',
          '|',
          '}',
          '#',
          '\u00ad',
          'ｅ',
          '。',
        ),
      )
      .map((inserted) => (uri: string, at: number) => uri.slice(0, at) + inserted + uri.slice(at)),
    fc
      .constantFrom('@', 'user@', 'user:pass@', ':@', 'evil.example:80@')
      .map((info) => (uri: string) => uri.replace('://', `://${info}`)),
    // Capitals in the scheme or the host. IP literals have no letters to change, so the scheme takes it.
    fc.constant((uri: string) => uri.replace('http', 'Http')),
    fc.constant((uri: string, at: number) => {
      const end = uri.indexOf('/', 'https://'.length)
      const place = at % end
      const capital = uri.charAt(place).toUpperCase()
      return capital === uri.charAt(place)
        ? uri.toUpperCase()
        : uri.slice(0, place) + capital + uri.slice(place + 1)
    }),
    fc
      .constantFrom('%2e', '%2E', '%2f', '%5C', '%', '%0', '%g0', '../', './')
      .map((inserted) => (uri: string) => uri.replace(/(\w\]?(?::\d+)?)\//, `$1/${inserted}/`)),
  )
  fc.assert(
    fc.property(loopbackUri, hostile, fc.nat(), (uri, change, place) => {
      const changed = change(uri, place % (uri.length + 1))
      assert.notEqual(changed, uri)
      assert.equal(allowedByDefault(changed), false, changed)
    }),
  )
})

test('a pattern without * allows only itself, however small the difference', () => {
  fc.assert(
    fc.property(exactUri, edit, text, (entry, change, unrelated) => {
      const pattern = patternOf(entry)
      assert.equal(matchesRedirect(pattern, entry), true)
      for (const other of [change(entry), unrelated]) {
        if (matchesRedirect(pattern, other)) assert.equal(new URL(other).href, new URL(entry).href)
      }
    }),
  )
})

test('a pattern with * as port allows every port and no other difference', () => {
  fc.assert(
    fc.property(loopbackUri, port, edit, text, (uri, at, change, unrelated) => {
      const [, origin = '', target = ''] = /^(https?:\/\/[^/]*?)(?::\d+)?(\/.*)$/.exec(uri) ?? []
      const pattern = patternOf(`${origin}:*${target}`)
      assert.equal(matchesRedirect(pattern, origin + at + target), true)
      for (const other of [change(uri), unrelated]) {
        if (!matchesRedirect(pattern, other)) continue
        const url = new URL(other)
        url.port = ''
        assert.equal(url.href, origin + target)
      }
    }),
  )
})

test('whatever can be configured and matched is safe to name in a content security policy', () => {
  const oddHost = fc.string({ maxLength: 2 }).map((odd) => `https://app${odd}.example/callback`)
  fc.assert(
    fc.property(fc.oneof(oddHost, text, exactUri), (entry) => {
      const reading = parseRedirectPattern(entry)
      if (!reading.ok || !matchesRedirect(reading.pattern, entry)) return
      assert.match(formActionSource(entry), /^[a-z0-9.+*:/_-]+$/)
    }),
  )
})
