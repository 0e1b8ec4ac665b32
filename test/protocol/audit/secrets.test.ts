/**
 * R108: markers in every field that can hold a secret, and real secrets of whole logins, are in no event, no line of the
 * audit output, no line of the log and no answer that is an error. The plain flows are in
 * test/protocol/errors/secrets.test.ts; this is what reads events.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Reply } from '../../support/http-client.ts'
import { registerIdp } from '../../support/idp/jwt-login.ts'
import { beginLogin, exchange, REDIRECT_URI, submitPassword } from '../../support/login/login.ts'
import { logInOffline, refresh, refreshed, revoke } from '../../support/login/refresh.ts'
import { administrate } from '../../support/management.ts'
import { logLines } from '../../support/monitoring/log-lines.ts'
import { ADMIN, startService, temporaryFolder } from '../../support/service.ts'

test('R108: no secret is in an event, in the audit output, in the log or in an error', async (t) => {
  // Attack: somebody reads the audit log, or what was exported of it, and finds something to log in with.
  const folder = await temporaryFolder(t)
  const file = join(folder, 'audit.log')
  const service = await startService(t, { config: { edge: { audit: { output: file } } } })
  const admin = await administrate(service)
  const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example' })
  const secrets = new Map<string, string>()
  const errors: string[] = []
  const plant = (name: string): string => {
    const marker = `MARKER-${name}-${secrets.size}`
    secrets.set(name, marker)
    return marker
  }
  const keep = (name: string, secret: string): string => {
    assert.ok(secret.length >= 6, name)
    secrets.set(name, secret)
    return secret
  }
  const refused = (reply: Reply): void => {
    assert.ok(reply.status >= 400 && reply.status < 500, `${reply.status} ${reply.text}`)
    errors.push(reply.text, JSON.stringify(reply.headers))
  }

  // Passwords, right and wrong, in both logins.
  keep('password', ADMIN.password)
  const { authRequestId, verifier } = await beginLogin(service)
  keep('auth request id', authRequestId)
  keep('verifier', verifier)
  const wrong = { username: 'admin', password: plant('password') }
  refused(await submitPassword(service, authRequestId, wrong))
  refused(
    await service.call('/edge/client/v1/authenticate?method=password', {
      json: { username: 'admin', password: plant('legacy password') },
    }),
  )

  // JWTs of others: good ones that name nobody, bad ones, and those that are checked.
  const jwt = keep('external JWT', await idp.jwt('nobody'))
  keep('its signature', jwt.split('.')[2] ?? '')
  const headers = { authorization: `Bearer ${jwt}` }
  refused(await service.call('/edge/client/v1/authenticate?method=ext-jwt', { headers, json: {} }))
  const nonsense = { authorization: `Bearer ${plant('bearer')}` }
  refused(
    await service.call('/edge/client/v1/authenticate?method=ext-jwt', {
      headers: nonsense,
      json: {},
    }),
  )
  refused(await service.call('/edge/client/v1/current-identity', { headers: nonsense }))
  refused(
    await service.call('/edge/client/v1/current-identity', {
      headers: { 'zt-session': plant('zt-session') },
    }),
  )
  const checked = await admin.call('POST', `/external-jwt-signers/${idp.id}/check`, { jwt })
  assert.equal(checked.status, 200)
  errors.push(checked.text)
  refused(
    await admin.call('POST', `/external-jwt-signers/${idp.id}/check`, {
      jwt,
      unknown: plant('a value of an unknown field'),
    }),
  )

  // Codes and refresh tokens, right and wrong.
  const form = { code: plant('code'), code_verifier: plant('verifier'), redirect_uri: REDIRECT_URI }
  refused(await exchange(service, form))
  refused(await refresh(service, plant('refresh token')))
  const tokens = await logInOffline(service)
  keep('access token', tokens.access_token)
  keep('ID token', tokens.id_token)
  keep('refresh token of a login', tokens.refresh_token)
  const next = await refreshed(service, tokens.refresh_token)
  keep('next refresh token', next.refresh_token)
  refused(await refresh(service, tokens.refresh_token))
  assert.equal((await revoke(service, plant('revoked token'))).status, 200)
  assert.equal((await revoke(service, next.refresh_token)).status, 200)

  // Things that an administrator hands in or gets, and a recovery code of nobody.
  const password = plant('password of an identity')
  const ada = await admin.createIdentity({ name: 'ada', password })
  const legacy = await service.call('/edge/client/v1/authenticate?method=password', {
    json: { username: 'ada', password },
  })
  const ztSession = keep('zt-session of a login', legacy.json().data.token)
  const mfa = await service.call('/edge/client/v1/current-identity/mfa', {
    method: 'POST',
    headers: { 'zt-session': ztSession },
  })
  const enrollment = mfa.json().data
  keep('TOTP secret', new URL(enrollment.provisioningUrl).searchParams.get('secret') ?? '')
  for (const [i, code] of enrollment.recoveryCodes.entries()) keep(`recovery code ${i}`, code)
  refused(
    await service.call('/edge/client/v1/current-identity/mfa/verify', {
      headers: { 'zt-session': ztSession },
      json: { code: '000000' },
    }),
  )
  await admin.act('DELETE', `/identities/${ada.id}`)
  const rotated = await admin.call('POST', '/signing-keys', { revokeNow: plant('a truth') })
  refused(rotated)

  const later = (await service.call('/version')).headers['x-request-id']
  await logLines(service, ({ requestId }) => requestId === later)
  const events = await admin.get('/events?limit=500')
  assert.ok(events.length > 10)
  await service.stop()
  const output = await readFile(file, 'utf8')
  assert.ok(output.split('\n').length > 10)

  const places = {
    events: JSON.stringify(events),
    output,
    log: JSON.stringify(service.log),
    errors: errors.join('\n'),
  }
  for (const [place, text] of Object.entries(places)) {
    for (const [name, secret] of secrets) {
      const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]
      for (const form of forms) {
        assert.equal(text.includes(form), false, `the ${name} is in the ${place}`)
      }
    }
  }
})
