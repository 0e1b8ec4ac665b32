/**
 * A token that is bound to a key, at a gateway: the proof is in addition to the certificate (D-457). RFC 9449 §7 for the
 * form of request and refusal.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeCsr } from '../../support/certificates/csr.ts'
import { pass, startRealEdge } from '../../support/edge/real-edge.ts'
import { boundCall, dpopKey, dpopProof, logInWithKey } from '../../support/login/dpop.ts'
import { startService } from '../../support/service.ts'

test('a bound token at a gateway', async (t) => {
  const service = await startService(t)
  const edge = await startRealEdge(t, service)
  const [key, other] = await Promise.all([dpopKey(), dpopKey()])
  const { access_token: token } = await logInWithKey(service, key)
  const { pem, keyPem } = await makeCsr()
  const path = '/edge/client/v1/current-api-session/certificates'
  const issued = await boundCall(
    service,
    key,
    token,
    path,
    { method: 'POST' },
    { method: 'POST', json: { csr: pem } },
  )
  assert.equal(issued.status, 201, issued.text)
  const shown = { cert: issued.json().data.certificate, key: keyPem }
  const url = 'https://gateway.example/'
  const proofOf = (with_ = key, parts: Partial<Parameters<typeof dpopProof>[2]> = {}) =>
    dpopProof(service, with_, { method: 'GET', url, token, ...parts })
  const ask = (headers: Readonly<Record<string, string>>, certificate = true) =>
    pass(t, edge, { ...(certificate ? { shown } : {}), headers })
  const bound = { authorization: `DPoP ${token}` }

  await t.test('passes with its proof and the certificate of its session', async () => {
    assert.equal((await ask({ ...bound, dpop: await proofOf() }))?.status, 200)
  })

  await t.test('does not pass without the certificate: the proof does not replace it', async () => {
    const reply = await ask({ ...bound, dpop: await proofOf() }, false)
    assert.equal(reply?.status, 403)
    assert.equal(reply?.json().error.code, 'FORBIDDEN')
  })

  // Attack: a stolen token, without its key.
  for (const [what, headers] of Object.entries({
    'as a bearer token': async () => ({ authorization: `Bearer ${token}` }),
    'without a proof': async () => bound,
    'with the proof of another key': async () => ({ ...bound, dpop: await proofOf(other) }),
    'with a proof for another method': async () => ({
      ...bound,
      dpop: await proofOf(key, { method: 'POST' }),
    }),
    'with a proof for another address': async () => ({
      ...bound,
      dpop: await proofOf(key, { url: 'https://gateway.example/other' }),
    }),
    'with a proof for another token': async () => ({
      ...bound,
      dpop: await proofOf(key, { token: 'other' }),
    }),
  })) {
    await t.test(`${what} is refused`, async () => {
      const reply = await ask(await headers())
      assert.equal(reply?.status, 401)
      assert.equal(reply?.json().error.code, 'UNAUTHORIZED')
    })
  }

  await t.test(
    'with a proof that was used before is refused, with the challenge of DPoP',
    async () => {
      const dpop = await proofOf()
      assert.equal((await ask({ ...bound, dpop }))?.status, 200)
      const again = await ask({ ...bound, dpop })
      assert.equal(again?.status, 401)
      assert.match(String(again?.header('www-authenticate')), /^DPoP .*error="invalid_dpop_proof"/)
    },
  )

  // Attack: a gateway that was taken over uses what its callers show it at the controller. docs/connect.md: a token that is
  // bound to no key is good for that.
  await t.test('is worth nothing at the controller to the gateway that has seen it', async () => {
    const seen = { ...bound, dpop: await proofOf() }
    for (const headers of [seen, { authorization: `Bearer ${token}` }]) {
      const call = await service.call('/edge/client/v1/current-identity', { headers })
      assert.equal(call.status, 401, call.text)
    }
  })
})
