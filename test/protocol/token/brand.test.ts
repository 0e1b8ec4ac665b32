/** D-1: one configured word is the client id, the audience and the prefix of the realms; nothing else says `service`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import {
  authorizationParameters,
  authorize,
  bearer,
  exchange,
  obtainCode,
  pkce,
} from '../../support/login/login.ts'
import { type Service, startService } from '../../support/service.ts'

const CLIENT = { client_id: 'acme' }

async function brandedTokens(service: Service) {
  const { code, verifier, redirectUri } = await obtainCode(service, CLIENT)
  const form = { ...CLIENT, code, code_verifier: verifier, redirect_uri: redirectUri }
  const reply = await exchange(service, form)
  assert.equal(reply.status, 200, reply.text)
  return reply.json()
}

test('D-1: with edge.brand acme', async (t) => {
  const service = await startService(t, { config: { edge: { brand: 'acme' } } })
  const tokens = await brandedTokens(service)

  await t.test('the client id is acme, and service is unknown', async () => {
    const { challenge } = pkce()
    const refused = await authorize(service, authorizationParameters(challenge))
    assert.equal(refused.status, 400)
    assert.equal(refused.json().error, 'invalid_client')
    assert.equal(refused.headers.location, undefined)
    const form = { code: 'x', client_id: 'service' }
    assert.equal((await exchange(service, form)).json().error, 'invalid_client')
  })

  await t.test('audience, client and authorized party of the tokens are acme', () => {
    const access = decodeJwt(tokens.access_token)
    assert.deepEqual([access.aud, access['client_id']], [['acme'], 'acme'])
    const id = decodeJwt(tokens.id_token)
    assert.deepEqual([id.aud, id['azp']], ['acme', 'acme'])
  })

  await t.test('its own token opens the API', async () => {
    const path = '/edge/client/v1/current-api-session'
    const reply = await service.call(path, bearer(tokens.access_token))
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.json().data.clientId, 'acme')
  })

  await t.test('every realm begins with acme', async () => {
    const challenge = async (path: string, headers = {}) =>
      (await service.call(path, { headers })).headers['www-authenticate']
    const path = '/edge/client/v1/current-identity'
    assert.match((await challenge(path)) ?? '', /Bearer realm="acme-oidc", error="missing"/)
    const invalid = await challenge(path, { authorization: 'Bearer x' })
    assert.match(invalid ?? '', /^Bearer realm="acme-oidc", error="invalid"/)
    const form = Object.entries({ grant_type: 'authorization_code', client_secret: 'x' })
    const basic = await service.call('/oidc/token', { form })
    assert.equal(basic.headers['www-authenticate'], 'Basic realm="acme-oidc"')
  })

  await t.test('the discovery member of the login endpoints is acme_endpoints', async () => {
    const document = (await service.call('/.well-known/openid-configuration')).json()
    const login = `${service.baseUrl}/oidc/login`
    assert.deepEqual(document['acme_endpoints'], {
      password: `${login}/username`,
      cert: `${login}/cert`,
      ext_jwt: `${login}/ext-jwt`,
      totp: `${login}/totp`,
      totp_enroll: `${login}/totp/enroll`,
      totp_enroll_verify: `${login}/totp/enroll/verify`,
      auth_queries: `${login}/auth-queries`,
    })
    assert.equal('service_endpoints' in document, false)
  })

  await t.test('nothing that is answered says service as a brand', async () => {
    const answers = await Promise.all(
      [
        service.call('/.well-known/openid-configuration'),
        service.call('/edge/client/v1/current-api-session', bearer(tokens.access_token)),
        service.call('/edge/client/v1/current-api-session'),
      ].map(async (reply) => {
        const { text, headers } = await reply
        return text + JSON.stringify(headers)
      }),
    )
    const claims = JSON.stringify([decodeJwt(tokens.access_token), decodeJwt(tokens.id_token)])
    assert.doesNotMatch([...answers, claims].join(), /\bservice(?:-oidc|_endpoints)?\b/)
  })
})

test('D-1: the default brand is service', async (t) => {
  const service = await startService(t)
  assert.equal(service.config.brand, 'service')
  const document = (await service.call('/.well-known/openid-configuration')).json()
  assert.equal(typeof document['service_endpoints']?.password, 'string')
})
