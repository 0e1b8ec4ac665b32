/** URLs with several hosts, as libpq reads them: D-295. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PostgresUrl, readPostgresUrl } from './postgres-url.ts'

function read(url: string): PostgresUrl {
  const reading = readPostgresUrl(url)
  assert.ok(reading.ok, reading.ok ? '' : reading.problem)
  return reading.value
}
const urls = (url: string) => read(url).hosts.map((host) => host.url)

test('a URL with one host stays as it is', () => {
  const url = 'postgres://me:p%40ss@db.internal/latchkey?sslmode=verify-full'
  const { hosts, name, needsWritable, connectTimeoutSeconds } = read(url)
  assert.deepEqual(hosts, [{ name: 'db.internal', url }])
  assert.equal(name, 'db.internal/latchkey')
  assert.equal(needsWritable, false)
  assert.equal(connectTimeoutSeconds, undefined)
})

test('several hosts in the authority are tried in their order, each with its own port', () => {
  assert.deepEqual(
    urls('postgresql://me:pw@one:5432,two,[::1]:6000/name?sslmode=require&connect_timeout=3'),
    [
      'postgresql://me:pw@one:5432/name?sslmode=require',
      'postgresql://me:pw@two/name?sslmode=require',
      'postgresql://me:pw@[::1]:6000/name?sslmode=require',
    ],
  )
  const { name, connectTimeoutSeconds } = read('postgres://me:pw@one:1,two/name?connect_timeout=3')
  assert.equal(name, 'one:1,two/name')
  assert.equal(connectTimeoutSeconds, 3)
})

test('hosts in the parameters have one port for all, or one each', () => {
  const hostsOf = (url: string) => read(url).hosts.map((host) => host.name)
  assert.deepEqual(hostsOf('postgres:///name?host=one,two&port=6000'), ['one:6000', 'two:6000'])
  assert.deepEqual(hostsOf('postgres:///name?host=one,/run/pg&port=1,2'), ['one:1', '/run/pg:2'])
  assert.deepEqual(hostsOf('postgres:///name?host=one'), ['one:5432'])
  assert.deepEqual(urls('postgres://me@/name?host=one,two&port=1,2&sslmode=require'), [
    'postgres://me@localhost/name?sslmode=require&host=one&port=1',
    'postgres://me@localhost/name?sslmode=require&host=two&port=2',
  ])
})

test('several hosts need a server that accepts writes, whether the URL says so or not', () => {
  assert.equal(read('postgres://one,two/name').needsWritable, true)
  assert.equal(read('postgres://one/name?target_session_attrs=any').needsWritable, false)
  assert.equal(read('postgres://one/name?target_session_attrs=read-write').needsWritable, true)
  assert.equal(read('postgres://one/name?target_session_attrs=primary').needsWritable, true)
})

test('a URL that cannot work is refused with a reason that does not quote it', () => {
  const refused: [url: string, problem: RegExp][] = [
    ['postgres://me:MARKER@[broken', /is not a URL/],
    ['postgres://me:MARKER@one:port/name', /is not a URL/],
    ['postgres://me:MARKER@one:99999,two/name', /a port that is not a number/],
    ['postgres://me:MARKER@one,,two/name', /an empty host/],
    ['postgres://me:MARKER@one,two/name?port=1', /same number of entries/],
    ['postgres://me:MARKER@/name?host=one,two&port=1,2,3', /same number of entries/],
    ['postgres://me:MARKER@/name?host=one,', /an empty host/],
    ['postgres://me:MARKER@/name?host=one&port=x', /a port that is not a number/],
    [`postgres://me:MARKER@${Array(9).fill('one').join(',')}/name`, /more than 8 hosts/],
    ['postgres://me:MARKER@one/name?target_session_attrs=standby', /read-write or primary/],
    ['postgres://me:MARKER@one/name?load_balance_hosts=random', /load_balance_hosts must be/],
    ['postgres://me:MARKER@one/name?connect_timeout=soon', /number of seconds/],
    ['mysql://me:MARKER@one/name', /is not a URL/],
  ]
  for (const [url, problem] of refused) {
    const reading = readPostgresUrl(url)
    assert.ok(!reading.ok, url)
    assert.match(reading.problem, problem)
    assert.doesNotMatch(reading.problem, /MARKER/)
  }
})
