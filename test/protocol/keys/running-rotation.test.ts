/**
 * D-23: a key that another process makes is taken up by a running service by itself. It looks every second, so this
 * test waits for it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeProtectedHeader } from 'jose'
import { rotateSigningKeys } from '../../../src/app/installation/rotate-signing-keys.ts'
import { PUBLISH_LEAD } from '../../../src/domain/tokens/keys/key-schedule.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { startService } from '../../support/service.ts'

/** Far more than that; a failure, not a measurement. */
const PATIENCE_MS = 60_000

test('D-23, R062: a running service publishes and uses a key that was made beside it, and loses no call', async (t) => {
  const service = await startService(t)
  const { access_token } = await logIn(service)
  const { access: made } = await rotateSigningKeys(service.config)
  const published = async (): Promise<boolean> => {
    const { keys } = (await service.call('/oidc/keys')).json()
    return keys.some(({ kid }: { kid: string }) => kid === made.kid)
  }

  const patience = AbortSignal.timeout(PATIENCE_MS)
  while (!(await published())) {
    const reply = await service.call('/edge/client/v1/current-identity', bearer(access_token))
    assert.equal(reply.status, 200)
    assert.equal(patience.aborted, false, 'the key is never published')
    await sleep(100)
  }
  assert.notEqual(decodeProtectedHeader((await logIn(service)).access_token).kid, made.kid)
  service.clock.advance(PUBLISH_LEAD)
  const late = await logIn(service)
  assert.equal(decodeProtectedHeader(late.access_token).kid, made.kid)
  for (const token of [access_token, late.access_token]) {
    const reply = await service.call('/edge/client/v1/current-identity', bearer(token))
    assert.equal(reply.status, 200)
  }
})
