/** A place that cannot be listened at is explained, and nothing is half open after it. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { bearer, logIn } from '../support/login/login.ts'
import { freePort } from '../support/ports.ts'
import { fixPort, missingHome, readConfig, useWorkers } from '../support/process/child-home.ts'
import { startChild } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { runLatchkey, runRefused } from '../support/process/run-command.ts'
import { startService } from '../support/service.ts'

test('a second instance on the same home is refused when it would use the same port', async (t) => {
  const home = await preparedHome(t)
  const port = await fixPort(home)
  const first = await startService(t, { home })
  assert.equal(new URL(first.baseUrl).port, String(port))

  const second = await runLatchkey(t, ['run', '--home', home])
  assert.equal(second.code, 1)
  assert.equal(second.stdout, '')
  assert.deepEqual(second.stderr.trimEnd().split('\n').slice(-5), [
    `latchkey: listener default: 127.0.0.1:${port} is already in use; is the service already running?`,
    'To use another port:',
    `  --port ${port + 1}   (latchkey run --port ${port + 1}, or npm start -- --port ${port + 1})`,
    `  LATCHKEY_ADDRESS=localhost:${port + 1}   (an environment variable)`,
    `Both are for one run. To change it for good, edit web[].bindPoints in ${home}/controller.yml.`,
  ])
  assert.doesNotMatch(second.stderr, /"ready"/)
  assert.equal((await first.call('/version')).status, 200, 'the first one goes on')
  await logIn(first)

  await t.test('and is not with --port, which it says, and which lasts for one run', async (t) => {
    const other = await freePort()
    const third = await startChild(t, { home, args: ['--port', String(other)] })
    assert.equal(third.port, other)
    assert.match(
      third.output.stdout,
      new RegExp(`address +from --port, for this run; .*controller.yml says localhost:${port}\\n`),
    )
    const said = third.logLines().find(({ msg }) => msg.includes('overridden'))
    assert.equal(said.to, `localhost:${other}`)
    const { access_token: token } = await logIn(third)
    const reply = await third.call('/edge/client/v1/current-api-session', bearer(token))
    assert.equal(reply.status, 200)
    // The issuer follows the address: a token of one is not valid at the other.
    const foreign = await first.call('/edge/client/v1/current-api-session', bearer(token))
    assert.equal(foreign.status, 401)
    assert.equal(foreign.json().error.code, 'UNAUTHORIZED')
    assert.equal((await readConfig(home)).web[0].bindPoints[0].address, `localhost:${port}`)
  })
})

test('D-337: a first start on a taken port says so, names the ways on, and creates nothing', async (t) => {
  const first = await startService(t)
  const home = await missingHome(t)
  const port = Number(new URL(first.baseUrl).port)
  const refused = await runRefused(['run', '--home', home], {
    LATCHKEY_ADDRESS: `localhost:${port}`,
  })
  assert.equal(refused.code, 1)
  assert.equal(refused.stdout, '')
  assert.deepEqual(refused.stderr.trimEnd().split('\n'), [
    `latchkey: 127.0.0.1:${port} is already in use; is the service already running?`,
    'Nothing was created. To use another port:',
    `  --port ${port + 1}   (latchkey run --port ${port + 1}, or npm start -- --port ${port + 1})`,
    `  LATCHKEY_ADDRESS=localhost:${port + 1}   (an environment variable)`,
    `The first start stores the address in ${home}/controller.yml, where you can change it later.`,
  ])
  assert.equal(existsSync(home), false)
})

test('D-337: LATCHKEY_ADDRESS overrides the address of an existing home, with several workers too', async (t) => {
  const home = await preparedHome(t)
  await fixPort(home)
  await useWorkers(home, 2)
  const port = await freePort()
  const service = await startChild(t, {
    home,
    environment: { LATCHKEY_ADDRESS: `127.0.0.1:${port}`, LATCHKEY_PORT: '1' },
  })
  assert.equal(service.baseUrl, `https://127.0.0.1:${port}`)
  await logIn(service)
  const unknown = service.logLines().find(({ msg }) => msg.includes('have no effect'))
  assert.deepEqual(unknown.variables, ['LATCHKEY_PORT'])

  const checked = await runLatchkey(t, ['config', 'check', '--home', home], {
    environment: { LATCHKEY_ADDRESS: `127.0.0.1:${port}` },
  })
  assert.match(
    checked.stdout,
    /^LATCHKEY_ADDRESS replaces localhost:\d+ of listener default with 127/,
  )
  const prepared = await runLatchkey(t, ['init', '--home', home, '--port', String(port)])
  assert.equal(prepared.code, 0)
  assert.match(
    prepared.stderr,
    /^--port is not used: .*controller.yml exists and says localhost:\d+;/m,
  )
})

test('a second instance on the same home serves beside the first at another port', async (t) => {
  const first = await startService(t)
  const second = await startChild(t, { home: first.home })
  assert.notEqual(second.baseUrl, first.baseUrl)
  for (const service of [first, second]) {
    const { access_token: token } = await logIn(service)
    const reply = await service.call('/edge/client/v1/current-api-session', bearer(token))
    assert.equal(reply.status, 200)
  }
})
