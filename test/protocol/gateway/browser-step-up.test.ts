/**
 * An upstream that demands a factor or a fresh sign-in sends a browser to do exactly that and back. D-462; RFC 9470 for
 * scripts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hours, minutes } from '../../../src/base/time/duration.ts'
import { gatewayVisitor, SCRIPT, type Visitor } from '../../support/edge/gateway-visitor.ts'
import { startRealEdge } from '../../support/edge/real-edge.ts'
import type { Reply } from '../../support/http-client.ts'
import {
  type AuthenticatorApp,
  scanned,
  submitCode,
  verifyEnrollment,
} from '../../support/login/authenticator-app.ts'
import { submitPassword } from '../../support/login/login.ts'
import { startService } from '../../support/service.ts'

const PASSWORD = 'correct horse battery'

test('browsers at upstreams with rules about the sign-in', async (t) => {
  const service = await startService(t)
  const edge = await startRealEdge(t, service, {
    upstreams: (to) => [
      to,
      { ...to, name: 'vault', path: '/vault', require: { amr: ['totp'] } },
      { ...to, name: 'payroll', path: '/payroll', require: { amr: ['totp'], maxAge: hours(1) } },
      { ...to, name: 'machines', path: '/machines', require: { amr: ['swk'] } },
      { ...to, name: 'admins', path: '/admins', require: { roles: ['admins'] } },
    ],
  })
  const newPerson = async () => {
    const { username } = await edge.admin.createIdentity({ password: PASSWORD })
    return { username, password: PASSWORD }
  }

  /** The login that a redirect leads to, as far as the password. */
  async function begin(redirect: Reply, who: { username: string; password: string }) {
    assert.equal(redirect.status, 302, redirect.text)
    const begun = await service.client.call(redirect.headers.location ?? '')
    const login = new URL(begun.headers.location ?? '', service.baseUrl)
    const id = login.searchParams.get('authRequestID') ?? ''
    return { id, reply: await submitPassword(service, id, who) }
  }

  async function comeBack(visitor: Visitor, done: Reply): Promise<Reply> {
    const callback = new URL(done.headers.location ?? '')
    const back = await visitor.visit(`${callback.pathname}${callback.search}`)
    assert.equal(back.status, 303, back.text)
    return visitor.visit(back.headers.location ?? '')
  }

  /** With a code, which is set up the first time. */
  async function stepUp(visitor: Visitor, redirect: Reply, who: Person): Promise<Reply> {
    const { id, reply } = await begin(redirect, who)
    assert.equal(reply.status, 200, reply.text)
    if (who.app !== undefined) {
      service.clock.advance(minutes(1))
      return comeBack(visitor, await submitCode(service, id, who.app.code()))
    }
    who.app = (await scanned(service, id)).app
    return comeBack(visitor, await verifyEnrollment(service, id, who.app.code()))
  }
  interface Person {
    readonly username: string
    readonly password: string
    app?: AuthenticatorApp
  }
  const parametersOf = ({ headers }: Reply) => new URL(headers.location ?? '').searchParams

  await t.test(
    'the factor is asked for, and the browser comes back to where it wanted to go',
    async () => {
      const visitor = gatewayVisitor(service, edge)
      const who: Person = await newPerson()
      assert.equal((await visitor.signIn('/', who)).status, 200)
      const sent = await visitor.visit('/vault/1?a=b')
      assert.equal(parametersOf(sent).get('acr_values'), 'urn:latchkey:acr:totp')
      assert.equal((await stepUp(visitor, sent, who)).status, 200)
      assert.equal((await visitor.visit('/vault/1?a=b')).status, 200)
    },
  )

  await t.test('who is not signed in yet signs in once, with the factor', async () => {
    const visitor = gatewayVisitor(service, edge)
    const sent = await visitor.visit('/vault')
    assert.equal(parametersOf(sent).get('acr_values'), 'urn:latchkey:acr:totp')
    assert.equal((await stepUp(visitor, sent, await newPerson())).status, 200)
  })

  await t.test('a script gets the challenge instead, with the class to ask for', async () => {
    const visitor = gatewayVisitor(service, edge)
    assert.equal((await visitor.signIn('/', await newPerson())).status, 200)
    const refused = await visitor.visit('/vault', { headers: SCRIPT })
    assert.equal(refused.status, 401)
    assert.equal(refused.json().error.code, 'FACTOR_REQUIRED')
    assert.match(
      refused.headers['www-authenticate'] ?? '',
      /error="insufficient_user_authentication".* acr_values="urn:latchkey:acr:totp"/,
    )
  })

  for (const path of ['/machines', '/admins']) {
    await t.test(`${path}: what no sign-in would mend is refused with a page`, async () => {
      const visitor = gatewayVisitor(service, edge)
      assert.equal((await visitor.signIn('/', await newPerson())).status, 200)
      const refused = await visitor.visit(path)
      assert.ok([401, 403].includes(refused.status), String(refused.status))
      assert.match(refused.headers['content-type'] ?? '', /^text\/html/)
    })
  }

  // Last: it moves the clock past the token of the administrator.
  await t.test('a sign-in that is too old is repeated, and its factor with it', async () => {
    const visitor = gatewayVisitor(service, edge)
    const who: Person = await newPerson()
    assert.equal((await stepUp(visitor, await visitor.visit('/payroll'), who)).status, 200)
    for (let step = 0; step < 4; step++) {
      service.clock.advance(minutes(20))
      edge.clock.advance(minutes(20))
      // The tokens are refreshed on the way: that does not make the sign-in younger.
      assert.equal((await visitor.visit('/vault')).status, 200)
    }
    const sent = await visitor.visit('/payroll')
    assert.equal(parametersOf(sent).get('max_age'), '3600')
    assert.equal(parametersOf(sent).get('acr_values'), 'urn:latchkey:acr:totp')
    assert.equal((await stepUp(visitor, sent, who)).status, 200)
  })
})
