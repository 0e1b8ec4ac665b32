/** docs/monitoring.md is run: its configuration, with a listener for monitoring alone, and what is read there. */
import { test } from 'node:test'
import { guideBlocks, runGuide } from '../support/guides/guide.ts'
import { freePort } from '../support/ports.ts'
import { operatorMachine } from '../support/process/operator-machine.ts'

const PAGE = 'docs/monitoring.md'

test('the lines of docs/monitoring.md read health, metrics and logs of a service with its configuration', async (t) => {
  const machine = await operatorMachine(t)
  const [apis, monitoring] = [await freePort(), await freePort()]
  const [config = ''] = await guideBlocks(PAGE, 'yaml')
  const here = config
    .replace('0.0.0.0:1280', `127.0.0.1:${apis}`)
    .replace('auth.example.com:1280', `localhost:${apis}`)
    .replace('10.0.0.5:9280', `127.0.0.1:${monitoring}`)
    .replace('id-1.internal:9280', `localhost:${monitoring}`)
  const home = machine.at('/var/lib/latchkey')
  await runGuide(t, 'docs/monitoring.md', {
    before: `umask 077
mkdir '${home}'
cat > '${home}/controller.yml' <<'END'
${here}
# The page shows the log line of a worker.
workers: 2
END
${machine.installed(`localhost:${apis}`)}`,
    environment: machine.environment,
    replace: {
      ...(await machine.replace(PAGE)),
      'id-1.internal:9280': `localhost:${monitoring}`,
    },
  })
})
