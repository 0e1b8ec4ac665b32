/** Which upstream a request goes to, and which paths are refused because two servers could read them differently. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createChooseUpstream, routingFault } from './choose-upstream.ts'
import { readOwnPath } from './own-paths.ts'
import { readPath, readPrefix } from './request-path.ts'

const place = (name: string, hosts: readonly string[], path = '/') => ({ name, hosts, path })

const UPSTREAMS = [
  place('site', []),
  place('admin', [], '/admin'),
  place('users', [], '/admin/users/'),
  place('grafana', ['grafana.example.com']),
  place('api', ['api.example.com', 'rest.example.com'], '/v1'),
]

function chosen(host: string, target: string, upstreams = UPSTREAMS): string {
  const choice = createChooseUpstream(upstreams)(host, readPath(target))
  return choice.outcome === 'chosen' ? choice.upstream.name : choice.outcome
}

describe('the upstream of a request', () => {
  const rows: readonly (readonly [host: string, target: string, expected: string])[] = [
    ['other.example.com', '/', 'site'],
    ['other.example.com', '/x/y?z=/admin', 'site'],
    ['other.example.com', '/administrators', 'site'],
    ['other.example.com', '/admin', 'admin'],
    ['other.example.com', '/admin?x', 'admin'],
    ['other.example.com', '/admin/', 'admin'],
    ['other.example.com', '/admin/userss', 'admin'],
    ['other.example.com', '/admin/users', 'users'],
    ['other.example.com', '/admin/users/1;v=2', 'users'],
    ['other.example.com', '/admin/users/a%2fb', 'users'],
    ['other.example.com', '/files/100%25', 'site'],
    ['other.example.com', '/caf%c3%a9', 'site'],
    // An upstream that names the host comes first.
    ['api.example.com', '/v1/x', 'api'],
    ['rest.example.com', '/v1/x', 'api'],
    ['api.example.com', '/v2/x', 'site'],
    ['api.example.com', '/admin', 'admin'],
    ['grafana.example.com', '/', 'grafana'],
    ['grafana.example.com', '/admin', 'grafana'],
  ]
  for (const [host, target, expected] of rows) {
    test(`of ${host} and ${target} is ${expected}`, () => {
      assert.equal(chosen(host, target), expected)
    })
  }

  test('may have a prefix with a dot at its end', () => {
    assert.equal(chosen('y.example.com', '/a./b', [place('one', [], '/a.')]), 'one')
  })

  test('is missing if none has the host and the path', () => {
    assert.equal(chosen('x.example.com', '/', [place('one', ['y.example.com'])]), 'none')
    assert.equal(chosen('y.example.com', '/b', [place('one', ['y.example.com'], '/a')]), 'none')
  })

  // Attack: the gateway lets the path pass to an open upstream, and the server there reads it as a path of another.
  const tricks: readonly string[] = [
    '/public/../admin',
    '/public/./x',
    '/public/%2e%2e/admin',
    '/public/%2E%2e/admin',
    '/public/..%2fadmin',
    '/public/%252e%252e/admin',
    '/public/..;/admin',
    '/public/..;a=b/admin',
    '/public/..%5cadmin',
    '/public/..\\admin',
    '/x/%252525252e%252525252e/admin',
    '//admin',
    '/%2fadmin',
    '/%5cadmin',
    '/\\admin',
    '/;/admin',
    '/;a=b/admin',
    '/admin;a=b',
    '/%61dmin',
    '/%2561dmin',
    '/Admin',
    '/admin%3f',
    '/admin%23/x',
    '/admin%253fx',
    '/admin.',
    '/admin%20/users',
    '/public/..%20/admin',
    '/public/..%3f/admin',
    '/ADMIN/users',
    '/admin%2fusers',
    '/admin//users',
    '/%ef%bc%8fadmin',
    '/%c0%afadmin',
    '/admin%00',
    '/x%0d%0a',
    '/%u002fadmin',
    '/%uff0fadmin',
  ]
  for (const target of tricks) {
    test(`is ambiguous for ${target}`, () => {
      assert.equal(chosen('other.example.com', target), 'ambiguous')
    })
  }

  test('is found for any path, unread, if no path decides', () => {
    const only = [place('one', [])]
    for (const target of [...tricks, '/a//b/../c']) assert.equal(chosen('h', target, only), 'one')
  })
})

describe('settings', () => {
  test('are refused if two upstreams have the same host and path', () => {
    const same = [place('a', ['h', 'i'], '/x'), place('b', ['i'], '/X/')]
    assert.match(routingFault(same) ?? '', /a and b have the same host and path/)
    assert.throws(() => createChooseUpstream(same), TypeError)
    assert.equal(routingFault(UPSTREAMS), undefined)
  })

  test('are refused if a path is not plain', () => {
    for (const path of [
      '',
      'x',
      '/a//b',
      '/a/../b',
      '/.',
      '/a%20',
      '/a;b',
      '/a?b',
      '/ä',
      '/a\\b',
    ]) {
      assert.equal(readPrefix(path), undefined, path)
      assert.match(routingFault([place('a', [], path)]) ?? '', /not a plain path/)
    }
    assert.deepEqual(readPrefix('/'), [])
    assert.deepEqual(readPrefix('/a/b.c/'), ['a', 'b.c'])
  })
})

describe('a path below /.latchkey/', () => {
  test('belongs to the gateway, whatever follows', () => {
    const own = readOwnPath(readPath('/.latchkey/connect/postgres?x=1'))
    assert.deepEqual(own, { outcome: 'own', name: 'connect', rest: ['postgres'] })
    assert.equal(readOwnPath(readPath('/.latchkey')).outcome, 'own')
    assert.equal(readOwnPath(readPath('/.latchkey/')).outcome, 'own')
  })

  // Attack: a path that the gateway does not take for one of its own, and that the upstream does.
  for (const target of [
    '//.latchkey/callback',
    '/%2elatchkey/callback',
    '/.LATCHKEY/callback',
    '/x/../.latchkey/callback',
    '/.latchkey/../x',
    '/.latchkey;x/callback',
    '/.latchkey%2fcallback',
    '/%2elatchkey/%c0',
  ]) {
    test(`is refused if it is written as ${target}`, () => {
      assert.equal(readOwnPath(readPath(target)).outcome, 'ambiguous')
    })
  }

  test('is not what has the name elsewhere', () => {
    for (const target of ['/x/.latchkey/callback', '/latchkey', '/.latchkeys/', '/?/.latchkey/']) {
      assert.equal(readOwnPath(readPath(target)).outcome, 'not-own')
    }
  })
})
