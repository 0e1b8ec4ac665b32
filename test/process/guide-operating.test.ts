/**
 * docs/operating.md is run on a machine with a stand-in for systemd: a mistake in the configuration, a certificate that is
 * replaced under a running service, keys, a way back in, another installation secret.
 */
import { test } from 'node:test'
import { runGuide } from '../support/guides/guide.ts'
import { freePort } from '../support/ports.ts'
import { operatorMachine } from '../support/process/operator-machine.ts'

test('the lines of docs/operating.md run as they are, under a service that they start', async (t) => {
  const machine = await operatorMachine(t)
  const address = `localhost:${await freePort()}`
  await runGuide(t, 'docs/operating.md', {
    before: machine.installed(address),
    environment: machine.environment,
    replace: {
      ...(await machine.replace('docs/operating.md')),
      'auth.example.com:1280': address,
      'auth.example.com': 'localhost',
    },
  })
})
