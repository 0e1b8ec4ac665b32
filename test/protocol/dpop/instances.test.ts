/** DPoP with two instances on one database: nonces and used proofs are shared. RFC 9449 §8, §11.1; D-450, D-451. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { IDENTITY } from '../../support/login/challenges.ts'
import {
  callWithProof,
  codeForm,
  dpopKey,
  dpopProof,
  freshNonce,
  logInWithKey,
  postToken,
  tokenRequest,
} from '../../support/login/dpop.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'

after(async () => (await startPostgres()).stop())

test('two instances agree on nonces and proofs', async (t) => {
  const { start } = await installation(await migratedDatabase())
  const one = await start(t)
  const two = await start(t)
  const key = await dpopKey()

  await t.test('each accepts the nonce of the other', async () => {
    assert.equal(await freshNonce(one), await freshNonce(two))
    const form = await codeForm(one)
    const reply = await tokenRequest(two, key, form, { nonce: await freshNonce(one) })
    assert.equal(reply.status, 200, reply.text)
  })

  // Attack: a proof that one instance accepted is sent to another one, which has not seen it.
  await t.test('a proof that one has accepted is refused by the other, also at once', async () => {
    const { access_token } = await logInWithKey(one, key)
    for (let round = 0; round < 4; round++) {
      const proof = await dpopProof(one, key, {
        method: 'GET',
        url: `${one.baseUrl}${IDENTITY}`,
        nonce: await freshNonce(one),
        token: access_token,
      })
      const replies = await Promise.all(
        [one, two, one, two].map((at) => callWithProof(at, IDENTITY, access_token, proof)),
      )
      const statuses = replies.map(({ status }) => status)
      assert.deepEqual(statuses.toSorted(), [200, 401, 401, 401])
      for (const at of [one, two]) {
        const late = await callWithProof(at, IDENTITY, access_token, proof)
        assert.match(String(late.headers['www-authenticate']), /error="invalid_dpop_proof"/)
      }
    }
  })

  await t.test('a proof of a token request is refused by the other', async () => {
    const proof = await dpopProof(one, key, {
      method: 'POST',
      url: `${one.baseUrl}/oidc/token`,
      nonce: await freshNonce(one),
    })
    const first = await postToken(one, await codeForm(one), { dpop: proof })
    assert.equal(first.status, 200, first.text)
    const second = await postToken(two, await codeForm(two), { dpop: proof })
    assert.equal(second.json().code, 'INVALID_DPOP_PROOF', second.text)
  })
})

test('the nonce of another installation is not accepted', async (t) => {
  const here = await (await installation(await migratedDatabase())).start(t)
  const there = await (await installation(await migratedDatabase())).start(t)
  const reply = await tokenRequest(here, await dpopKey(), await codeForm(here), {
    nonce: await freshNonce(there),
  })
  assert.equal(reply.json().code, 'USE_DPOP_NONCE', reply.text)
})
