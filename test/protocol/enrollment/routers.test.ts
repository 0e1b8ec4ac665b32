/**
 * Routers: their hosts, the certificate that they enroll and renew, and the redirect URI of their gateways. D-391,
 * D-392, D-393.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { eventsOf } from '../../support/audit.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import { CLIENT } from '../../support/certificates/renewal.ts'
import {
  answerOf,
  authorizationParameters,
  authorize,
  beginLogin,
  exchange,
  obtainCode,
  pkce,
  submitPassword,
} from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

test('routers', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)

  const router = (name: string, hosts: readonly string[]) => ({
    name,
    type: 'Router',
    isAdmin: false,
    hosts,
    enrollment: { ott: true },
  })

  async function invite(name: string, hosts: readonly string[]) {
    const reply = await admin.call('POST', '/identities', router(name, hosts))
    assert.equal(reply.status, 201, reply.text)
    const { id, enrollment } = reply.json().data
    return { id, token: enrollment.token as string }
  }

  function enroll(token: string, clientCsr: string, more: object = {}) {
    return service.call(`${CLIENT}/enroll/ott`, {
      method: 'POST',
      json: { token, clientCsr, ...more },
    })
  }

  const { challenge } = pkce()
  async function isFollowed(uri: string): Promise<boolean> {
    const reply = await authorize(
      service,
      authorizationParameters(challenge, { redirect_uri: uri }),
    )
    if (reply.status === 302) return true
    assert.equal(reply.json().code, 'INVALID_REDIRECT_URI', reply.text)
    return false
  }

  await t.test(
    'the certificate of a router is for the hosts of its administrator, and for none that its request names',
    async () => {
      const hosts = [
        'GW1.example.com',
        'gw1.example.com:8443',
        '10.1.2.3',
        '[::1]:8443',
        'localhost',
      ]
      const { id, token } = await invite('gw1', hosts)
      assert.deepEqual((await admin.get(`/identities/${id}`)).hosts, [
        'gw1.example.com',
        'gw1.example.com:8443',
        '10.1.2.3',
        '[::1]:8443',
        'localhost',
      ])
      const { pem } = await makeCsr({
        subject: '/CN=victim.example.com/O=Example',
        options: ['-addext', 'subjectAltName=DNS:victim.example.com'],
      })
      const reply = await enroll(token, pem, { identityType: 'Router' })
      assert.equal(reply.status, 200, reply.text)
      const certificate = new X509Certificate(reply.json().data.cert)
      assert.equal(certificate.subject, 'CN=gw1.example.com')
      assert.deepEqual(certificate.subjectAltName?.split(', ').toSorted(), [
        'DNS:gw1.example.com',
        'DNS:localhost',
        'IP Address:0:0:0:0:0:0:0:1',
        'IP Address:10.1.2.3',
        `URI:spiffe://latchkey/identity/${id}`,
      ])
      assert.deepEqual(certificate.keyUsage.toSorted(), ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'])
      assert.equal(certificate.ca, false)
      const [routers] = [await admin.get('/routers')]
      assert.deepEqual(routers.find((one: { id: string }) => one.id === id)?.hosts.length, 5)
    },
  )

  await t.test(
    'a router without hosts, and anybody else, gets a client certificate as before',
    async () => {
      const { token } = await invite('plain', [])
      const { pem } = await makeCsr({ subject: '/CN=plain' })
      const certificate = new X509Certificate((await enroll(token, pem)).json().data.cert)
      assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2'])
      assert.equal(certificate.subject, 'CN=plain')
      assert.doesNotMatch(certificate.subjectAltName ?? '', /DNS|IP/)
    },
  )

  await t.test(
    'hosts that no browser could call, and hosts of anything but a router, are refused',
    async () => {
      for (const host of [
        'https://a',
        'a:0',
        'a:99999',
        '*.example.com',
        '0.0.0.0',
        '[::]:1',
        'a b',
        'a/b',
      ]) {
        const reply = await admin.call('POST', '/identities', router(`bad ${host}`, [host]))
        assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'hosts')
      }
      const many = Array.from({ length: 33 }, (_, i) => `h${i}.example.com`)
      assertRefused(
        await admin.call('POST', '/identities', router('many', many)),
        400,
        'COULD_NOT_VALIDATE',
        'hosts',
      )
      const person = { ...router('person', ['a.example.com']), type: 'Default' }
      assertRefused(
        await admin.call('POST', '/identities', person),
        400,
        'COULD_NOT_VALIDATE',
        'hosts',
      )
    },
  )

  await t.test(
    'an enrollment for another type of identity is refused, and its token stays unspent',
    async () => {
      const made = await admin.call('POST', '/identities', {
        ...router('somebody', []),
        type: 'Default',
      })
      const { token } = made.json().data.enrollment
      const { pem } = await makeCsr()
      assertRefused(
        await enroll(token, pem, { identityType: 'Router' }),
        400,
        'COULD_NOT_VALIDATE',
        'identityType',
      )
      assert.equal((await enroll(token, pem)).status, 200)
    },
  )

  await t.test(
    'a login returns to the callback of a router: exact path, its hosts, its ports',
    async () => {
      await invite('gw2', ['gw2.example.com', 'gw3.example.com:8443', '[fd00::1]'])
      for (const uri of [
        'https://gw2.example.com/.latchkey/callback',
        'https://gw2.example.com:8443/.latchkey/callback',
        'https://gw3.example.com:8443/.latchkey/callback',
        'https://[fd00::1]:9443/.latchkey/callback',
      ]) {
        assert.equal(await isFollowed(uri), true, uri)
      }
      // Attack: a URI that is nearly the callback of a gateway carries the code elsewhere.
      for (const uri of [
        'http://gw2.example.com/.latchkey/callback',
        'https://gw2.example.com/.latchkey/callback/',
        'https://gw2.example.com/.latchkey/callback?a=b',
        'https://gw2.example.com/.latchkey/callback#x',
        'https://gw2.example.com/x/.latchkey/callback',
        'https://gw2.example.com/%2e%2e/.latchkey/callback',
        'https://gw2.example.com/a/../.latchkey/callback',
        'https://GW2.example.com/.latchkey/callback',
        'https://gw2.example.com:443/.latchkey/callback',
        'https://gw2.example.com./.latchkey/callback',
        'https://u@gw2.example.com/.latchkey/callback',
        'https://evil.example/?https://gw2.example.com/.latchkey/callback',
        'https://gw2.example.com.evil.example/.latchkey/callback',
        'https://gw3.example.com/.latchkey/callback',
        'https://gw3.example.com:8444/.latchkey/callback',
        'https://gw2.example.com\\@evil.example/.latchkey/callback',
      ]) {
        assert.equal(await isFollowed(uri), false, uri)
      }
    },
  )

  await t.test(
    'the callback of a router ends with its host, when it is disabled, and when it is deleted',
    async () => {
      const { id } = await invite('gw4', ['gw4.example.com'])
      const uri = 'https://gw4.example.com/.latchkey/callback'
      assert.equal(await isFollowed(uri), true)
      await admin.act('POST', `/identities/${id}/disable`, {})
      assert.equal(await isFollowed(uri), false)
      await admin.act('POST', `/identities/${id}/enable`, {})
      assert.equal(await isFollowed(uri), true)
      await admin.act('PATCH', `/identities/${id}`, { hosts: ['other.example.com'] })
      assert.equal(await isFollowed(uri), false)
      assert.equal(await isFollowed('https://other.example.com/.latchkey/callback'), true)
      await admin.act('PATCH', `/identities/${id}`, { hosts: [], type: 'Default' })
      assert.equal(await isFollowed('https://other.example.com/.latchkey/callback'), false)
      await admin.act('PATCH', `/identities/${id}`, { hosts: ['gw4.example.com'], type: 'Router' })
      assert.equal(await isFollowed(uri), true)
      await admin.act('DELETE', `/identities/${id}`)
      assert.equal(await isFollowed(uri), false)
    },
  )

  await t.test(
    'D-488: a router that was disabled gets no tokens of a login that began before',
    async () => {
      const { id } = await invite('gw5', ['gw5.example.com'])
      const redirect_uri = 'https://gw5.example.com/.latchkey/callback'
      const before = await obtainCode(service, { redirect_uri })
      const pending = await beginLogin(service, { redirect_uri })
      await admin.act('POST', `/identities/${id}/disable`, {})
      const late = answerOf(await submitPassword(service, pending.authRequestId)).get('code')
      for (const { code, verifier } of [before, { ...pending, code: late }]) {
        const reply = await exchange(service, {
          code: String(code),
          code_verifier: verifier,
          redirect_uri,
        })
        assert.equal(reply.status, 400, reply.text)
        assert.equal(reply.json().error, 'invalid_grant')
        const [refused] = await eventsOf(service, reply)
        assert.equal(refused?.reason, 'redirect-uri-withdrawn')
      }
    },
  )
})
