/** Rules of upstreams at the gateway, and roles that are removed while connections are open. D-400, D-403, D-404. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { after, test } from 'node:test'
import { startEdge } from '../../test/support/edge/edge.ts'
import { ALICE, openEdgePki } from '../../test/support/edge/edge-pki.ts'
import { ended } from '../../test/support/edge/fake-controller.ts'
import { waitFor } from '../../test/support/process/child-service.ts'
import { hours } from '../base/time/duration.ts'
import { roleSubject } from '../protocol/feed/role-removals.ts'
import type { Requirements, UpstreamSettings } from './settings/settings.ts'
import { upstreamTo } from './settings/upstream-url.ts'

const pki = await openEdgePki()
after(() => pki.close())
const alice = await pki.sessionCertificate(ALICE)

const LOGIN = { amr: ['pwd'], z_ap: 'default', roles: ['ops', 'dev'], z_rv: 3 }

const guarded = (require: Requirements) => ({
  upstreams: (to: UpstreamSettings) => [{ ...to, require }],
})

async function ask(edge: Awaited<ReturnType<typeof startEdge>>, claims: object) {
  const connection = await edge.connect()
  const token = await pki.token({ ...claims })
  connection.send(`GET / HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${token}\r\n\r\n`)
  return { ...connection, answer: await connection.reply() }
}

test('a role that is removed is felt by the next request and by open connections that need it', async (t) => {
  const edge = await startEdge(t, pki, alice, {
    upstreams: (to) => [
      { ...to, name: 'ops', path: '/ops', require: { roles: ['ops'] } },
      { ...to, name: 'dev', require: { roles: ['dev'] } },
    ],
  })
  const token = await pki.token(LOGIN)
  const open = async (path: string) => {
    const connection = await edge.connect()
    connection.send(`GET ${path} HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${token}\r\n\r\n`)
    assert.equal((await connection.reply())?.status, 200)
    return connection
  }
  const ops = await open('/ops')
  const dev = await open('/')
  edge.feed.send(ended(roleSubject(ALICE.identityId, 4, 'ops')))
  await ops.closed
  assert.ok(edge.log.some(({ why, msg }) => why === 'rules' && /closed/.test(msg)))

  dev.send(`GET /ops HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${token}\r\n\r\n`)
  const refused = await dev.reply()
  assert.equal(refused?.status, 403)
  assert.equal(refused.json().error.code, 'ROLE_REQUIRED')
  assert.equal(refused.json().error.next, 'ask-administrator')
  assert.match(refused.header('www-authenticate') ?? '', /insufficient_scope.*roles="ops"/)
  assert.ok(
    edge.log.some(
      ({ reason, rule, upstream }) =>
        reason === 'rule-unmet' && rule === 'roles' && upstream === 'ops',
    ),
  )

  // The role was given back: a token from after that counts, the old one does not.
  assert.equal((await ask(edge, { ...LOGIN, z_rv: 4 })).answer?.status, 200)
})

test('a caller of an older controller, which sends no roles, is refused with a code of its own', async (t) => {
  const edge = await startEdge(t, pki, alice, guarded({ roles: ['ops'] }))
  const { answer } = await ask(edge, {})
  assert.equal(answer?.status, 403)
  assert.equal(answer.json().error.code, 'ROLES_UNKNOWN')
  assert.ok(edge.log.some(({ isUnknown }) => isUnknown === true))
})

test('an old sign-in opens nothing new, and closes nothing', async (t) => {
  const edge = await startEdge(t, pki, alice, guarded({ maxAge: hours(1), roles: ['dev'] }))
  const now = Math.floor(edge.clock.now() / 1_000)
  const connection = await edge.connect()
  const fresh = await pki.token({ ...LOGIN, auth_time: now - 60 })
  connection.send(`GET / HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${fresh}\r\n\r\n`)
  assert.equal((await connection.reply())?.status, 200)
  const { answer } = await ask(edge, { ...LOGIN, auth_time: now - 3_700 })
  assert.equal(answer?.status, 401)
  assert.equal(answer.json().error.code, 'LOGIN_TOO_OLD')
  assert.match(
    answer.header('www-authenticate') ?? '',
    /insufficient_user_authentication.*max_age="3600"/,
  )
  // Another role of this identity is removed, and the rules are asked again.
  edge.feed.send(ended(roleSubject(ALICE.identityId, 4, 'ops')))
  connection.send(`GET / HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${fresh}\r\n\r\n`)
  assert.equal((await connection.reply())?.status, 200)
})

test('a removal between the check and the start of a connection is not missed', async (t) => {
  const edge = await startEdge(t, pki, alice, guarded({ roles: ['ops'] }))
  edge.feed.send(ended(roleSubject(ALICE.identityId, 4, 'ops')))
  await waitFor(
    () =>
      edge.router.rolesOf({
        identityId: ALICE.identityId,
        facts: { roles: { names: ['ops'], version: 3 } },
      } as never)?.length === 0,
    () => 'the removal',
  )
  const { answer } = await ask(edge, LOGIN)
  assert.equal(answer?.json().error.code, 'ROLE_REQUIRED')
})

// Attack: a caller who is about to lose access opens an event stream, which never ends.
test('new rules close the requests in progress of callers that they refuse, and no others', async (t) => {
  const responses: ServerResponse[] = []
  const edge = await startEdge(t, pki, alice, {
    upstreams: (to) => [
      { ...to, name: 'ops', path: '/ops', require: { roles: ['ops'] } },
      { ...to, name: 'dev' },
    ],
    answer(_, response) {
      responses.push(response)
      response.writeHead(200, { 'content-length': 2 }).write('a')
    },
  })
  const { port } = edge.upstream
  const to = upstreamTo({ kind: 'http', at: { host: '127.0.0.1', port } })
  const open = async (path: string) => {
    const connection = await edge.connect()
    const token = await pki.token(LOGIN)
    connection.send(`GET ${path} HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${token}\r\n\r\n`)
    await once(connection.socket, 'data')
    return connection
  }
  const ops = await open('/ops/stream')
  const dev = await open('/stream')
  edge.gateway.replaceUpstreams([
    { ...to, name: 'ops', path: '/ops', require: { roles: ['admins'] } },
    { ...to, name: 'dev', require: { roles: ['dev'] } },
  ])
  await ops.closed
  assert.equal(dev.socket.destroyed, false)
  // The removal of its upstream leaves a request alone.
  edge.gateway.replaceUpstreams([])
  const rest = once(dev.socket, 'data')
  for (const response of responses) response.end('b')
  assert.equal(String((await rest)[0]), 'b')
})

test('a role that is removed is judged by the rules of today', async (t) => {
  const edge = await startEdge(t, pki, alice)
  const to = upstreamTo({ kind: 'http', at: { host: '127.0.0.1', port: edge.upstream.port } })
  const { closed, answer } = await ask(edge, LOGIN)
  assert.equal(answer?.status, 200)
  edge.gateway.replaceUpstreams([{ ...to, require: { roles: ['ops'] } }])
  edge.feed.send(ended(roleSubject(ALICE.identityId, 4, 'ops')))
  await closed
  assert.ok(edge.log.some(({ why, msg }) => why === 'rules' && /closed/.test(msg)))
})

test('a request whose caller is authenticated while the rules change is judged by the new ones', async (t) => {
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const authenticate = async () => {
    begun.resolve()
    await goOn.promise
    return undefined
  }
  const edge = await startEdge(t, pki, alice, { gateway: { waysIn: [{ authenticate }] } })
  const to = upstreamTo({ kind: 'http', at: { host: '127.0.0.1', port: edge.upstream.port } })
  const { closed } = await edge.request(['GET / HTTP/1.1', 'host: h'])
  await begun.promise
  edge.gateway.replaceUpstreams([{ ...to, require: { identities: ['bob'] } }])
  goOn.resolve()
  await closed
  assert.equal(edge.upstream.received(), '')
})
