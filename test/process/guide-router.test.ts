/** docs/router.md is run: a gateway in two commands, and a session that passes until it ends. */
import { join } from 'node:path'
import { test } from 'node:test'
import { runGuide } from '../support/guides/guide.ts'
import { copyInstalledHome } from '../support/homes/installed-home.ts'
import { freePort } from '../support/ports.ts'
import { ADMIN, startService, temporaryFolder } from '../support/service.ts'

test('the lines of docs/router.md put a gateway before a service, and let one session pass until it ends', async (t) => {
  const cwd = await temporaryFolder(t)
  const home = join(cwd, 'latchkey-data')
  await copyInstalledHome(home)
  const service = await startService(t, { home })
  await runGuide(t, 'docs/router.md', {
    cwd,
    typed: `${ADMIN.password}\n`,
    replace: {
      'localhost:1280': new URL(service.baseUrl).host,
      'localhost:8443': `localhost:${await freePort()}`,
      '8080': String(await freePort()),
    },
  })
})
