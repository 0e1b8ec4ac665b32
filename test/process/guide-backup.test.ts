/** docs/backup.md is run: backups of a running service, restores into a new home and over it, and the move to PostgreSQL. */
import { after as afterAll, test } from 'node:test'
import { runGuide } from '../support/guides/guide.ts'
import { freePort } from '../support/ports.ts'
import { operatorMachine } from '../support/process/operator-machine.ts'
import { startPostgres } from '../support/stores/postgres.ts'

afterAll(async () => (await startPostgres()).stop())

test('the lines of docs/backup.md back up, check, restore and move an installation', async (t) => {
  const machine = await operatorMachine(t)
  const address = `localhost:${await freePort()}`
  const db = new URL(await (await startPostgres()).freshDatabase())
  const { username, password, host, pathname } = db
  await runGuide(t, 'docs/backup.md', {
    before: `${machine.installed(address)}
echo 'DB_PASSWORD=${password}' >> '${machine.at('/etc/latchkey/environment')}'
`,
    environment: machine.environment,
    replace: {
      ...(await machine.replace('docs/backup.md')),
      'auth.example.com:1280': address,
      'postgres://latchkey@db.internal/latchkey': `postgres://${username}@${host}${pathname}`,
      '@db.internal/latchkey': `@${host}${pathname}`,
      'postgres://latchkey:': `postgres://${username}:`,
    },
  })
})
