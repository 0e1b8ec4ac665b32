/** A place that cannot be listened at is explained, and nothing is half open after it. Issue 2, Start. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearer, logIn } from '../support/login/login.ts'
import { fixPort } from '../support/process/child-home.ts'
import { startChild } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { runLatchkey } from '../support/process/run-command.ts'

test('a second instance on the same home is refused when it would use the same port', async (t) => {
  const home = await preparedHome(t)
  const port = await fixPort(home)
  const first = await startChild(t, { home })
  assert.equal(first.port, port)

  const second = await runLatchkey(t, ['run', '--home', home])
  assert.equal(second.code, 1)
  assert.equal(second.stdout, '')
  const complaint = second.stderr.trimEnd().split('\n').at(-1)
  assert.equal(
    complaint,
    `latchkey: listener default: 127.0.0.1:${port} is already in use; is the service already running?`,
  )
  assert.doesNotMatch(second.stderr, /"ready"/)
  assert.equal((await first.call('/version')).status, 200, 'the first one goes on')
  await logIn(first)
})

test('a second instance on the same home serves beside the first at another port', async (t) => {
  const first = await startChild(t)
  const second = await startChild(t, { home: first.home })
  assert.notEqual(second.port, first.port)
  for (const service of [first, second]) {
    const { access_token: token } = await logIn(service)
    const reply = await service.call('/edge/client/v1/current-api-session', bearer(token))
    assert.equal(reply.status, 200)
  }
})
