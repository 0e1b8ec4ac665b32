/**
 * The device authorization grant through two client libraries, unmodified: RFC 8628. The user approves in between. Only the
 * interval is shortened, so that no test waits.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { answerDevice, approveDevice, signInForDevice } from '../../support/login/device.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'

const CLIENT_ID = 'service'
const SCOPE = 'openid offline_access'

test('client libraries sign in a device', async (t) => {
  const service = await startService(t)
  const issuer = new URL(`${service.baseUrl}/oidc`)

  for (const algorithm of ['oidc', 'oauth2'] as const) {
    await t.test(`openid-client gets tokens, ${algorithm} discovery`, async () => {
      const config = await withOpenidClient(service, issuer, algorithm)
      const asked = await client.initiateDeviceAuthorization(config, { scope: SCOPE })
      await approveDevice(service, { userCode: asked.user_code })
      const tokens = await client.pollDeviceAuthorizationGrant(config, { ...asked, interval: 0 })
      assert.equal(tokens.claims()?.['preferred_username'], ADMIN.username)
      assert.ok(tokens.refresh_token)
      const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token)
      assert.equal(refreshed.claims()?.sub, tokens.claims()?.sub)
    })
  }

  await t.test('openid-client is told that the user denied it', async () => {
    const config = await withOpenidClient(service, issuer, 'oidc')
    const asked = await client.initiateDeviceAuthorization(config, { scope: SCOPE })
    const device = { userCode: asked.user_code }
    await answerDevice(service, await signInForDevice(service, device), device, 'deny')
    await assert.rejects(client.pollDeviceAuthorizationGrant(config, { ...asked, interval: 0 }), {
      code: 'OAUTH_RESPONSE_BODY_ERROR',
      error: 'access_denied',
    })
  })

  await t.test('oauth4webapi sees a pending answer, slow_down, and then the tokens', async () => {
    const use = { [oauth.customFetch]: service.client.fetch }
    const as = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...use }),
    )
    const me: oauth.Client = { client_id: CLIENT_ID }
    const asked = await oauth.processDeviceAuthorizationResponse(
      as,
      me,
      await oauth.deviceAuthorizationRequest(as, me, oauth.None(), { scope: SCOPE }, use),
    )
    const poll = async () =>
      oauth.processDeviceCodeResponse(
        as,
        me,
        await oauth.deviceCodeGrantRequest(as, me, oauth.None(), asked.device_code, use),
      )
    await assert.rejects(poll(), { error: 'authorization_pending' })
    await assert.rejects(poll(), { error: 'slow_down' })
    await approveDevice(service, { userCode: asked.user_code })
    const tokens = await poll()
    assert.equal(oauth.getValidatedIdTokenClaims(tokens)?.['preferred_username'], ADMIN.username)
    await assert.rejects(poll(), { error: 'invalid_grant' })
  })
})

function withOpenidClient(service: Service, issuer: URL, algorithm: 'oidc' | 'oauth2') {
  return client.discovery(issuer, CLIENT_ID, undefined, client.None(), {
    algorithm,
    [client.customFetch]: service.client.fetch,
    execute: [client.enableNonRepudiationChecks],
  })
}
