import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DEFAULT_REDIRECT_PATTERNS,
  formActionSource,
  matchesRedirect,
  parseRedirectPattern,
  type RedirectPattern,
} from './redirect-uri.ts'

function pattern(text: string): RedirectPattern {
  const reading = parseRedirectPattern(text)
  assert.ok(reading.ok, reading.ok ? '' : reading.problem)
  return reading.pattern
}

function problemOf(text: string): string {
  const reading = parseRedirectPattern(text)
  assert.ok(!reading.ok, `${text} is a pattern`)
  return reading.problem
}

const allowedByDefault = (text: string): boolean =>
  DEFAULT_REDIRECT_PATTERNS.some((one) => matchesRedirect(one, text))

test('callbacks to this machine work out of the box, on any port and path (R008)', () => {
  const callbacks = [
    'http://127.0.0.1:49152/callback',
    'http://[::1]:49152/callback',
    'http://localhost:49152/callback',
    'https://localhost:8443/auth/callback',
    'http://localhost/callback',
    'http://localhost:3000',
    'http://localhost:3000/',
    'http://localhost:3000/callback?tenant=a%2Fb',
    'http://127.0.0.1:1/',
    'http://127.0.0.1:65535/',
  ]
  for (const uri of callbacks) assert.equal(allowedByDefault(uri), true, uri)
})

test('nothing but this machine is allowed by default', () => {
  const elsewhere = [
    'https://app.example.com/callback',
    'http://localhost.example.com/',
    'http://127.0.0.1.example.com/',
    'http://app.localhost/',
    'http://127.0.0.2/',
    'http://[::2]/',
    'http://0.0.0.0/',
    'com.example.app:/callback',
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://localhost/',
    'ws://localhost/',
    '//localhost/',
    '/callback',
    'localhost',
    '',
  ]
  for (const uri of elsewhere) assert.equal(allowedByDefault(uri), false, uri)
})

test('a loopback URI in disguise is refused (R007)', () => {
  // Attack: a text that we read as this machine, and a browser, proxy or client as another.
  const disguises = {
    'user info that looks like the host': 'http://127.0.0.1:1@evil.example/',
    'user info before the host': 'http://evil@localhost/',
    'empty user info': 'http://@localhost/',
    fragment: 'http://localhost/#x',
    'empty fragment': 'http://localhost/#',
    'backslash as slash': 'http://localhost\\@evil.example/',
    'backslash in the path': 'http://localhost/a\\b',
    'backslash in the query': 'http://localhost/?a\\b',
    'encoded slash': 'http://localhost/a%2fb',
    'encoded backslash': 'http://localhost/a%5Cb',
    'encoded dot': 'http://localhost/a%2Eb',
    'encoded dot segment': 'http://localhost/%2e%2e/',
    'dot segment': 'http://localhost/a/../b',
    'encoded host': 'http://local%68ost/',
    'trailing dot host': 'http://localhost./',
    'port that is not a number': 'http://localhost:80a/',
    'port in hexadecimal': 'http://localhost:0x50/',
    'port with leading zero': 'http://localhost:08080/',
    'port above 65535': 'http://localhost:65536/',
    'port of six digits': 'http://localhost:100000/',
    'port left empty': 'http://localhost:/',
    'default port of http': 'http://localhost:80/',
    'default port of https': 'https://localhost:443/',
    'port as wildcard': 'http://localhost:*/',
    'IDN look-alike': 'http://lоcalhost/', // a Cyrillic o
    'full-width letters': 'http://ｌocalhost/',
    'ideographic full stop': 'http://127。0。0。1/',
    'mixed-case scheme': 'hTTp://localhost/',
    'mixed-case host': 'http://LocalHost/',
    'short IPv4': 'http://127.1/',
    'IPv4 as a number': 'http://2130706433/',
    'IPv4 in octal': 'http://0177.0.0.1/',
    'IPv4 in IPv6': 'http://[::ffff:127.0.0.1]/',
    'long IPv6': 'http://[0:0:0:0:0:0:0:1]/',
    'one slash': 'http:/localhost/',
    'no slash': 'http:localhost/',
    'three slashes': 'http:///localhost/',
    'leading space': ' http://localhost/',
    'trailing newline': 'http://localhost/\n',
    'tab inside': 'http://local\thost/',
    'null byte': 'http://localhost/\0',
    space: 'http://localhost/a b',
    'bare percent sign': 'http://localhost/100%',
    'broken percent-encoding': 'http://localhost/%zz',
    'raw unicode in the path': 'http://localhost/é',
    'query without path': 'http://localhost?a=b',
  }
  for (const [name, uri] of Object.entries(disguises)) {
    assert.equal(allowedByDefault(uri), false, name)
  }
})

test('a URI has at most 2048 characters', () => {
  const start = 'http://localhost/'
  assert.equal(allowedByDefault(start + 'a'.repeat(2048 - start.length)), true)
  assert.equal(allowedByDefault(start + 'a'.repeat(2049 - start.length)), false)
})

test('an entry without * matches itself, with or without the trailing slash of an empty path (R006)', () => {
  const exact = pattern('https://app.example.com:8443/callback?tenant=a')
  assert.equal(matchesRedirect(exact, 'https://app.example.com:8443/callback?tenant=a'), true)
  for (const other of [
    'http://app.example.com:8443/callback?tenant=a',
    'https://www.app.example.com:8443/callback?tenant=a',
    'https://app.example.com/callback?tenant=a',
    'https://app.example.com:8444/callback?tenant=a',
    'https://app.example.com:8443/callback/?tenant=a',
    'https://app.example.com:8443/Callback?tenant=a',
    'https://app.example.com:8443/callback?tenant=b',
    'https://app.example.com:8443/callback?tenant=a&x=y',
    'https://app.example.com:8443/callback',
  ]) {
    assert.equal(matchesRedirect(exact, other), false, other)
  }

  for (const entry of ['https://app.example.com', 'https://app.example.com/']) {
    assert.equal(matchesRedirect(pattern(entry), 'https://app.example.com'), true)
    assert.equal(matchesRedirect(pattern(entry), 'https://app.example.com/'), true)
    assert.equal(matchesRedirect(pattern(entry), 'https://app.example.com/?'), false)
    assert.equal(matchesRedirect(pattern(entry), 'https://app.example.com//'), false)
  }
})

test('* stands for any port or none, and for nothing else (D-8)', () => {
  const loopback = pattern('http://127.0.0.1:*/callback')
  for (const uri of [
    'http://127.0.0.1/callback',
    'http://127.0.0.1:1/callback',
    'http://127.0.0.1:65535/callback',
  ]) {
    assert.equal(matchesRedirect(loopback, uri), true, uri)
  }
  for (const uri of [
    'https://127.0.0.1:1/callback',
    'http://localhost:1/callback',
    'http://127.0.0.1:1/callback/',
    'http://127.0.0.1:1/callback?',
    'http://127.0.0.1:1/',
    'http://127.0.0.1:1',
    'http://127.0.0.1:*/callback',
    'http://127.0.0.1:1@evil.example/callback',
    'http://127.0.0.1:1/callback@evil.example',
    'http://127.0.0.1:/callback',
    'http://127.0.0.1:99999/callback',
  ]) {
    assert.equal(matchesRedirect(loopback, uri), false, uri)
  }

  assert.equal(matchesRedirect(pattern('http://[::1]:*'), 'http://[::1]:8080/'), true)
  const remote = pattern('https://app.example.com:*/a?b=c')
  assert.equal(matchesRedirect(remote, 'https://app.example.com:8443/a?b=c'), true)
})

test('a custom scheme with a dot can be listed, and matches only itself (RFC 8252 §7.1)', () => {
  for (const entry of ['com.example.app:/callback', 'com.example.app://callback/done?a=b']) {
    assert.equal(matchesRedirect(pattern(entry), entry), true)
    assert.equal(matchesRedirect(pattern(entry), `${entry}/`), false)
    assert.equal(matchesRedirect(pattern(entry), entry.replace('com', 'COM')), false)
  }
})

test('a * anywhere but the port is a problem that names the entry (R010)', () => {
  for (const entry of [
    '*',
    'https://*.example.com/',
    'https://*/callback',
    'https://app.example.com/*',
    'https://app.example.com:8*/callback',
    'https://app.example.com:**/callback',
    'https://app.example.com:*/callback?x=*',
    'https://app.example.com:*.evil.example/',
    'https://app.example.com:*@evil.example/',
    'http://[::1:*]/',
    'com.example.app:*',
    'com.example.app://host:*/',
  ]) {
    const problem = problemOf(entry)
    assert.ok(problem.startsWith(JSON.stringify(entry)), problem)
    assert.match(problem, /has a \* outside the port position; write \* only as the port/)
  }
  assert.match(problemOf('https://app.example.com:8443:*/'), /has two ports/)
})

test('plain http to another machine is a problem (R011)', () => {
  for (const entry of [
    'http://app.example.com/callback',
    'http://app.example.com:*/callback',
    'http://localhost./callback',
    'http://127.0.0.2/callback',
    'http://localhost.example.com/',
  ]) {
    assert.match(problemOf(entry), /is plain http to another machine; use https$/)
  }
})

test('schemes that run code, read files or could belong to any program are a problem', () => {
  for (const entry of [
    'javascript:alert(1)',
    'data:text/html,x',
    'blob:https://app.example.com/x',
    'file:///etc/passwd',
    'ftp://app.example.com/',
    'myapp:/callback',
    'urn:ietf:wg:oauth:2.0:oob',
  ]) {
    assert.match(
      problemOf(entry),
      /has the scheme [a-z]+; use https, .* such as com\.example\.app$/,
    )
  }
})

test('every other fault of an entry is named, with what to do', () => {
  const faults: [string, RegExp][] = [
    ['', /^"" is not a whole URI; write it like https:/],
    ['app.example.com/callback', /is not a whole URI/],
    ['https://', /is not a whole URI/],
    ['https://user@app.example.com/', /has user info; remove it/],
    ['https://user:*@app.example.com/', /has a \* outside the port position/],
    ['https://app.example.com/#', /has a fragment; remove it/],
    ['https://app.example.com/a%2fb', /has an encoded dot, slash or backslash in its path/],
    [
      'https://app.example.com/a b',
      /has a character that is not allowed in a URI; percent-encode it/,
    ],
    ['https://bücher.example/', /has a character that is not allowed in a URI; .* xn-- form/],
    ['https://app;x.example.com/', /has a host that is not a host name/],
    [
      'https://app.example.com:443/',
      /not in its normal form; write https:\/\/app\.example\.com\/$/,
    ],
    ['HTTPS://App.Example.com/a', /not in its normal form; write https:\/\/app\.example\.com\/a$/],
    ['http://127.1:*/a', /not in its normal form; write http:\/\/127\.0\.0\.1:\*\/a$/],
    ['http://localhost:*?a', /not in its normal form; write http:\/\/localhost:\*\/\?a$/],
    ['com.example.app:/a/../b', /not in its normal form; write com\.example\.app:\/b$/],
    [
      `https://app.example.com/${'a'.repeat(2048)}`,
      /…" is longer than 2048 characters; shorten it$/,
    ],
  ]
  for (const [entry, problem] of faults) assert.match(problemOf(entry), problem)
})

test('the content security policy names the origin of a web callback and the scheme of a custom one', () => {
  assert.equal(formActionSource('http://localhost:3000/callback?a=b'), 'http://localhost:3000')
  assert.equal(formActionSource('https://app.example.com'), 'https://app.example.com')
  assert.equal(formActionSource('com.example.app:/callback'), 'com.example.app:')
})

test('an IPv6 callback, which CSP cannot write, is named by its scheme and port', () => {
  assert.equal(formActionSource('http://[::1]:3000/callback'), 'http://*:3000')
  assert.equal(formActionSource('http://[::1]/callback'), 'http://*')
})

test('a text that is not a URI adds nothing to the content security policy', () => {
  assert.equal(formActionSource('nowhere'), "'self'")
})
