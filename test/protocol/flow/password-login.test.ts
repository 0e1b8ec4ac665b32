import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearer, logIn } from '../../support/login/login.ts'
import { startService } from '../../support/service.ts'

test('a password login ends in an authorized API call', async (t) => {
  const service = await startService(t)
  const tokens = await logIn(service)
  const reply = await service.call('/edge/client/v1/current-identity', bearer(tokens.access_token))
  assert.equal(reply.status, 200)
  assert.equal(reply.json().data.name, 'admin')
})
