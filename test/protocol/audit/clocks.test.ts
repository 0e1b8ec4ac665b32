/**
 * D-325: which clock is off is in the event, and only there. Attack: somebody has the password and tries codes; an
 * answer that tells a code of another minute from any other wrong code would let him try forty at once.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seconds } from '../../../src/base/time/duration.ts'
import { eventsOf } from '../../support/audit.ts'
import { enrolledPerson, partialLogin, submitCode } from '../../support/login/authenticator-app.ts'
import { administrate } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

test('a code of an app whose clock is off is refused like any other, and its event says by how much', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const admin = await administrate(service)
  const person = await enrolledPerson(service, admin)
  const { authRequestId } = await partialLogin(service, person)
  const early = person.app.code()
  service.clock.advance(seconds(120))
  const late = await submitCode(service, authRequestId, early)
  const wrong = await submitCode(service, authRequestId, person.app.wrongCode())
  const shown = ({ status, headers, text }: typeof late) => ({
    status,
    names: Object.keys(headers).toSorted(),
    body: text.replaceAll(String(headers['x-request-id']), ''),
  })
  assert.equal(late.status, 400)
  assert.deepEqual(shown(late), shown(wrong))

  const [event] = await eventsOf(service, late)
  assert.deepEqual(event?.details, { method: 'totp', clock: { of: 'totp', aheadSeconds: -120 } })
})

test('the event also says so for a code that could be a recovery code', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const person = await enrolledPerson(service, await administrate(service))
  while (!/^[2-7]{6}$/.test(person.app.code())) service.clock.advance(seconds(30))
  const { authRequestId } = await partialLogin(service, person)
  const early = person.app.code()
  service.clock.advance(seconds(120))
  const late = await submitCode(service, authRequestId, early)
  assert.equal(late.status, 400)
  const [event] = await eventsOf(service, late)
  assert.deepEqual(event?.details, { method: 'totp', clock: { of: 'totp', aheadSeconds: -120 } })
})

test('/version tells the time of the server, by the clock that judges tokens', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  for (const path of ['/version', '/edge/client/v1/version', '/edge/management/v1/version']) {
    const { data } = (await service.call(path)).json()
    assert.equal(Date.parse(data.time), service.clock.now())
  }
})
