/**
 * Browsers through a gateway that follows a real controller: D-410, D-411, D-412. test/browser has a real one; here it is
 * done by hand, so that a test can send what a browser would not.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import {
  type Credentials,
  gatewayVisitor,
  SCRIPT,
  SESSION_COOKIE,
  type Visitor,
} from '../../support/edge/gateway-visitor.ts'
import { startRealEdge, travel } from '../../support/edge/real-edge.ts'
import { eventually } from '../../support/eventually.ts'
import { demand } from '../../support/policies.ts'
import { startService } from '../../support/service.ts'

test('browsers through a gateway', async (t) => {
  const service = await startService(t)
  const edge = await startRealEdge(t, service, {
    upstream: {
      answer(request, response) {
        if (request.url === '/events') {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          response.write('data: 1\n\n')
          return
        }
        response.writeHead(200, [
          ...['content-type', 'application/json'],
          ...['set-cookie', 'theme=dark; Path=/'],
          ...['set-cookie', `${SESSION_COOKIE}=forged; Path=/; Secure`],
          ...['set-cookie', `=${SESSION_COOKIE}=forged; Path=/; Secure`],
          ...['set-cookie', '__HOST-latchkey-Account=forged; Path=/; Secure'],
        ])
        response.end(JSON.stringify(request.headers))
      },
    },
  })
  const { admin } = edge
  const newVisitor = () => gatewayVisitor(service, edge)
  let people = 0
  const newPerson = async (): Promise<Credentials> => {
    people += 1
    const password = 'correct horse battery'
    const { username } = await admin.createIdentity({ username: `person${people}`, password })
    return { username, password }
  }
  const signedIn = async (who?: Credentials): Promise<Visitor> => {
    const visitor = newVisitor()
    assert.equal((await visitor.signIn('/', who)).status, 200)
    return visitor
  }
  const cookieOf = ({ cookies }: Visitor) => `${SESSION_COOKIE}=${cookies.get(SESSION_COOKIE)}`

  /** A bare connection with a cookie, for what `http` does not show. */
  const open = async (visitor: Visitor, lines: readonly string[]) => {
    const connection = await travel(t, edge, { headers: {} })
    const host = `host: ${new URL(edge.url).host}`
    connection.send(`${[...lines, host, `cookie: ${cookieOf(visitor)}`].join('\r\n')}\r\n\r\n`)
    return connection
  }
  const handshake = (origin: string | undefined) => [
    'GET /socket HTTP/1.1',
    'connection: upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    ...(origin === undefined ? [] : [`origin: ${origin}`]),
  ]

  await t.test(
    'a browser is sent to sign in, and comes back to where it wanted to go',
    async () => {
      const visitor = newVisitor()
      const first = await visitor.visit('/dashboards?from=now&x=%2F')
      assert.equal(first.status, 302)
      assert.equal(first.headers['cache-control'], 'no-store')
      assert.equal(first.headers['referrer-policy'], 'no-referrer')
      const location = new URL(first.headers.location ?? '')
      assert.equal(location.origin, service.baseUrl)
      assert.equal(location.searchParams.get('redirect_uri'), `${edge.url}/.latchkey/callback`)
      assert.equal(location.searchParams.get('code_challenge_method'), 'S256')
      const back = await visitor.visit(await visitor.logIn(first))
      assert.equal(back.status, 303, back.text)
      assert.equal(back.headers.location, '/dashboards?from=now&x=%2F')
      assert.deepEqual([...visitor.cookies.keys()], [SESSION_COOKIE])
      assert.equal((await visitor.visit('/dashboards?from=now&x=%2F')).status, 200)
    },
  )

  await t.test(
    'the upstream learns who it is, sees no cookie of ours, and cannot set one',
    async () => {
      const visitor = await signedIn()
      const cookie = `a=1; ${cookieOf(visitor)}; __Host-latchkey-account=sealed; b=2`
      const reply = await visitor.visit('/', { headers: { cookie } })
      const seen = reply.json()
      assert.equal(seen.cookie, 'a=1; b=2')
      assert.match(seen['x-latchkey-identity-id'], /./)
      assert.match(seen['x-latchkey-session-id'], /./)
      assert.deepEqual(reply.headers['set-cookie'], ['theme=dark; Path=/'])
      assert.equal(edge.upstream.received().includes(SESSION_COOKIE), false)
    },
  )

  await t.test('a script gets 401 with a challenge instead of a redirect', async () => {
    const fields: readonly Readonly<Record<string, string>>[] = [
      SCRIPT,
      { ...SCRIPT, 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors' },
      { ...SCRIPT, 'sec-fetch-dest': 'iframe', 'sec-fetch-mode': 'navigate' },
      { 'x-requested-with': 'XMLHttpRequest' },
    ]
    for (const headers of fields) {
      const reply = await newVisitor().visit('/', { headers })
      assert.equal(reply.status, 401)
      assert.equal(reply.json().error.code, 'UNAUTHORIZED')
      assert.match(String(reply.headers['www-authenticate']), /Bearer/)
    }
    const form = await newVisitor().visit('/', { form: [['a', '1']] })
    assert.equal(form.status, 401)
  })

  await t.test(
    'a browser that sends no fetch metadata is recognized by what it accepts',
    async () => {
      const none = { 'sec-fetch-mode': [], 'sec-fetch-site': [], 'sec-fetch-dest': [] }
      assert.equal((await newVisitor().visit('/', { headers: none })).status, 302)
      const program = await newVisitor().visit('/', { headers: { ...none, accept: '*/*' } })
      assert.equal(program.status, 403)
      assert.equal(program.json().error.code, 'FORBIDDEN')
    },
  )

  // Login CSRF: an attacker lets the victim finish the attacker's login, or injects a code into another one.
  await t.test(
    'the answer to a login is accepted only in the browser that began it, and once',
    async () => {
      const attacker = newVisitor()
      const answer = await attacker.logIn(await attacker.visit('/'))
      const victim = newVisitor()
      await victim.visit('/')
      const forced = await victim.visit(answer)
      assert.equal(forced.status, 400)
      assert.match(forced.text, /You are not signed in/)
      assert.equal(victim.cookies.has(SESSION_COOKIE), false)
      // A code of the attacker with the state of the victim.
      const own = new URL(`https://x${await victim.logIn(await victim.visit('/'))}`)
      const stolen = new URL(`https://x${answer}`)
      own.searchParams.set('code', stolen.searchParams.get('code') ?? '')
      const injected = await victim.visit(`${own.pathname}${own.search}`)
      assert.equal(injected.status, 403)
      assert.match(injected.text, /You are not signed in/)
      assert.equal(victim.cookies.has(SESSION_COOKIE), false)
      const replayed = await attacker.visit(answer)
      assert.equal(replayed.status, 403, 'the wrong verifier has spent the code')
    },
  )

  // Mix-up: another issuer answers (RFC 9207).
  await t.test(
    'an answer of another issuer, without a code or with two states is refused',
    async () => {
      for (const change of [
        (query: URLSearchParams) => query.set('iss', 'https://evil.example/oidc'),
        (query: URLSearchParams) => query.delete('iss'),
        (query: URLSearchParams) => query.delete('code'),
        (query: URLSearchParams) => query.append('state', 'x'),
        (query: URLSearchParams) => query.append('code', 'x'),
      ]) {
        const visitor = newVisitor()
        const back = new URL(`https://x${await visitor.logIn(await visitor.visit('/'))}`)
        change(back.searchParams)
        const reply = await visitor.visit(`${back.pathname}${back.search}`)
        assert.equal(reply.status, 400)
        assert.equal(visitor.cookies.has(SESSION_COOKIE), false)
      }
    },
  )

  await t.test('a refused login is a page, in the language of the reader', async () => {
    const visitor = newVisitor()
    const begun = new URL((await visitor.visit('/')).headers.location ?? '')
    const state = begun.searchParams.get('state') ?? ''
    const iss = encodeURIComponent(`${service.baseUrl}/oidc`)
    const reply = await visitor.visit(
      `/.latchkey/callback?error=access_denied&state=${state}&iss=${iss}`,
      { headers: { 'accept-language': 'de-DE,de;q=0.9,en;q=0.8' } },
    )
    assert.equal(reply.status, 403)
    assert.equal(reply.headers['content-language'], 'de')
    assert.match(reply.text, /Sie sind nicht angemeldet/)
    assert.match(String(reply.headers['content-security-policy']), /default-src 'none'/)
  })

  await t.test('a login never leads to another origin', async () => {
    for (const to of ['//evil.example', '/\\evil.example', 'https://evil.example/', '/%09/evil']) {
      const visitor = newVisitor()
      const begun = await visitor.visit(`/.latchkey/sign-in?to=${encodeURIComponent(to)}`)
      const back = await visitor.visit(await visitor.logIn(begun))
      assert.equal(back.status, 303)
      const { origin } = new URL(back.headers.location ?? '', edge.url)
      assert.equal(origin, edge.url)
      assert.match(back.headers.location ?? '', /^\/(?![/\\])/)
    }
  })

  await t.test('two windows sign in at the same time', async () => {
    const visitor = newVisitor()
    const [one, two] = [await visitor.visit('/one'), await visitor.visit('/two')]
    const first = await visitor.visit(await visitor.logIn(one))
    assert.equal(first.headers.location, '/one')
    const second = await visitor.visit(await visitor.logIn(two))
    assert.equal(second.headers.location, '/two')
    assert.equal((await visitor.visit('/one')).status, 200)
    assert.deepEqual([...visitor.cookies.keys()], [SESSION_COOKIE])
  })

  // Attack: another site opens windows until the header of the browser is full.
  await t.test('unfinished logins do not fill the cookies of a browser', async () => {
    const visitor = newVisitor()
    for (let i = 0; i < 12; i += 1) await visitor.visit(`/${'x'.repeat(1_400)}${i}`)
    const length = [...visitor.cookies].join('; ').length
    assert.ok(length < 8 * 1024, String(length))
    assert.equal((await visitor.signIn('/last')).status, 200)
  })

  // Session fixation.
  await t.test('each login has a new cookie, and ends the session that it replaces', async () => {
    const visitor = newVisitor()
    await visitor.signIn()
    const before = cookieOf(visitor)
    await visitor.visit(await visitor.logIn(await visitor.visit('/.latchkey/sign-in?again=1&to=/')))
    assert.notEqual(cookieOf(visitor), before)
    const reply = await newVisitor().visit('/', { headers: { cookie: before } })
    assert.equal(reply.status, 302)
  })

  await t.test(
    'a cookie counts at its own host alone, alone, and never beside a token',
    async () => {
      const visitor = await signedIn()
      const cookie = cookieOf(visitor)
      const elsewhere = await travel(t, edge, { headers: {} })
      const lines = [
        'GET / HTTP/1.1',
        'host: other.example',
        'sec-fetch-mode: cors',
        `cookie: ${cookie}`,
      ]
      elsewhere.send(`${lines.join('\r\n')}\r\n\r\n`)
      assert.equal((await elsewhere.reply())?.status, 401)
      // Cookie tossing.
      const twice = await newVisitor().visit('/', {
        headers: { cookie: `${cookie}; ${cookie}`, ...SCRIPT },
      })
      assert.equal(twice.status, 401)
      assert.match(String(twice.headers['set-cookie']), /__Host-latchkey-gateway=;.*Max-Age=0/)
      const beside = await newVisitor().visit('/', {
        headers: { cookie, authorization: 'Bearer x' },
      })
      assert.equal(beside.status, 403)
      const random = `${SESSION_COOKIE}=${'a'.repeat(43)}`
      assert.equal((await newVisitor().visit('/', { headers: { cookie: random } })).status, 302)
    },
  )

  // R-CSRF: Lax keeps the cookie from other sites, but not from other hosts of the same site.
  await t.test('a change that another site may have caused is refused', async () => {
    const visitor = await signedIn()
    const cases: readonly Readonly<Record<string, string | readonly string[]>>[] = [
      { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      { 'sec-fetch-site': 'same-site', origin: 'https://sibling.example' },
      { 'sec-fetch-site': [], origin: 'null' },
      { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
      { 'sec-fetch-site': [] },
    ]
    for (const headers of cases) {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
        const reply = await visitor.visit('/', { method, headers: { ...SCRIPT, ...headers } })
        assert.equal(reply.status, 403, JSON.stringify([method, headers]))
        assert.equal(reply.json().error.code, 'CROSS_SITE')
      }
    }
    const page = await visitor.visit('/', {
      form: [['a', '1']],
      headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    })
    assert.equal(page.status, 403)
    assert.match(page.text, /Request blocked/)
    const own = { ...SCRIPT, origin: edge.url }
    assert.equal((await visitor.visit('/', { method: 'POST', headers: own })).status, 200)
    // A link from another site is only a visit.
    const link = { 'sec-fetch-site': 'cross-site' }
    assert.equal((await visitor.visit('/', { headers: link })).status, 200)
  })

  await t.test('a WebSocket opens for its own origin alone', async () => {
    const visitor = await signedIn()
    for (const origin of [undefined, 'https://evil.example', 'null']) {
      const { reply } = await open(visitor, handshake(origin))
      const answer = await reply()
      assert.equal(answer?.status, 403)
      assert.equal(answer.json().error.code, 'CROSS_SITE')
    }
    const { reply } = await open(visitor, handshake(edge.url))
    assert.equal((await reply())?.status, 101)
  })

  await t.test(
    'the end of a session at the controller closes what is open, and kills the cookie',
    async () => {
      const who = await newPerson()
      const visitor = await signedIn(who)
      const socket = await open(visitor, handshake(edge.url))
      assert.equal((await socket.reply())?.status, 101)
      const events = await open(visitor, ['GET /events HTTP/1.1'])
      await once(events.socket, 'data')
      const sessionId = (await visitor.visit('/')).json()['x-latchkey-session-id']
      await admin.act('DELETE', `/api-sessions/${sessionId}`)
      await Promise.all([socket.closed, events.closed])
      // The connection that the browser kept is closed as well.
      const headers = { cookie: cookieOf(visitor) }
      const script = await newVisitor().visit('/', { headers: { ...headers, ...SCRIPT } })
      assert.equal(script.status, 401)
      assert.equal((await newVisitor().visit('/', { headers })).status, 302)
    },
  )

  await t.test(
    'a policy that demands more closes what is open, and asks for a new sign-in',
    async () => {
      const policy = await admin.createPolicy()
      const password = 'correct horse battery'
      const person = await admin.createIdentity({ username: 'strict', password, policy })
      const visitor = await signedIn({ username: person.username, password })
      const socket = await open(visitor, handshake(edge.url))
      assert.equal((await socket.reply())?.status, 101)
      await demand(admin, policy, { requireTotp: true })
      await socket.closed
      const headers = { cookie: cookieOf(visitor) }
      assert.equal((await newVisitor().visit('/', { headers })).status, 302)
    },
  )

  await t.test(
    'signing out asks, ends the session here and at the controller, and nothing is left open',
    async () => {
      const who = await newPerson()
      const visitor = await signedIn(who)
      const socket = await open(visitor, handshake(edge.url))
      assert.equal((await socket.reply())?.status, 101)
      const sessionId = (await visitor.visit('/')).json()['x-latchkey-session-id']
      const question = await visitor.visit('/.latchkey/sign-out')
      assert.match(question.text, new RegExp(`Sign out\\?[^]*${who.username}`))
      assert.equal((await visitor.visit('/')).status, 200, 'a GET changes nothing')
      const forged = await visitor.visit('/.latchkey/sign-out', {
        method: 'POST',
        headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      })
      assert.equal(forged.status, 403)
      assert.equal((await visitor.visit('/')).status, 200)
      const headers = { cookie: cookieOf(visitor) }
      const done = await visitor.visit('/.latchkey/sign-out', {
        method: 'POST',
        headers: { 'sec-fetch-site': 'same-origin', origin: edge.url },
      })
      assert.equal(done.status, 200)
      assert.match(done.text, /Signed out/)
      assert.equal(visitor.cookies.size, 0)
      await socket.closed
      await eventually(async () => {
        const reply = await admin.call('GET', `/api-sessions/${sessionId}`)
        return reply.status === 404 ? true : undefined
      }, 'the end at the controller')
      // Over another connection: the gateway closes those of the session (D-42), at any moment now.
      assert.equal((await newVisitor().visit('/', { headers })).status, 302)
    },
  )

  await t.test(
    'an access token that expires is refreshed behind the cookie, once for all requests',
    async () => {
      const visitor = await signedIn()
      const before = service.log.filter(({ route }) => route === '/oidc/token').length
      // Nine tenths of its life, after which every refresh is due (D-324), have passed; and it has not expired.
      service.clock.advance(minutes(28))
      edge.clock.advance(minutes(28))
      const replies = await Promise.all(['/a', '/b', '/c', '/d'].map((path) => visitor.visit(path)))
      assert.deepEqual(
        replies.map(({ status }) => status),
        [200, 200, 200, 200],
      )
      const refreshes = await eventually(() => {
        const now = service.log.filter(({ route }) => route === '/oidc/token').length
        return now > before ? now - before : undefined
      }, 'the refresh')
      assert.equal(refreshes, 1)
    },
  )
})
