/**
 * R060: a token that was good a moment ago is judged anew. Attack: somebody relies on a verdict that is remembered for
 * longer than the token lives, or that is remembered under less than the whole of it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seconds } from '../../../src/base/time/duration.ts'
import { answerTo, EXPIRED, INVALID } from '../../support/login/challenges.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { startService } from '../../support/service.ts'

test('R060: no verdict about a token outlives the token', async (t) => {
  const service = await startService(t)
  service.clock.hold()

  await t.test('a token that was just taken is refused in the moment of its expiry', async () => {
    const { access_token, expires_in } = await logIn(service)
    service.clock.advance(seconds(expires_in - 1))
    assert.equal(await answerTo(service, access_token), 'taken')
    service.clock.advance(seconds(1))
    assert.equal(await answerTo(service, access_token), EXPIRED)
  })

  await t.test('a token that was just taken is refused once its session has ended', async () => {
    const { access_token } = await logIn(service)
    assert.equal(await answerTo(service, access_token), 'taken')
    const out = await service.call('/edge/client/v1/current-api-session', {
      method: 'DELETE',
      ...bearer(access_token),
    })
    assert.equal(out.status, 200)
    assert.equal(await answerTo(service, access_token), INVALID)
  })

  await t.test(
    'what a good token opened, its head and body with other signatures do not',
    async () => {
      const { access_token } = await logIn(service)
      assert.equal(await answerTo(service, access_token), 'taken')
      const [head = '', body = '', signature = ''] = access_token.split('.')
      const bytes = Buffer.from(signature, 'base64url')
      for (let i = 0; i < bytes.length; i += 7) {
        const changed = Buffer.from(bytes)
        changed[i] = (changed[i] ?? 0) ^ 1
        const forged = `${head}.${body}.${changed.toString('base64url')}`
        assert.equal(await answerTo(service, forged), INVALID, `byte ${i}`)
      }
      assert.equal(await answerTo(service, access_token), 'taken')
    },
  )
})
