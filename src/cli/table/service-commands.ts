/** The commands of those who run the service. */
import { readHomeOptions } from '../home/home-options.ts'
import { command } from './command.ts'

export const HOME_OPTIONS = {
  home: { value: 'DIR', what: 'the home folder (else LATCHKEY_HOME, else ./latchkey-data)' },
  config: { value: 'FILE', what: 'a configuration file other than controller.yml in the home' },
} as const

const PASSPHRASE_FILE = {
  value: 'FILE',
  what: 'its first line is the passphrase; without it, the passphrase is asked for',
} as const

export const SERVICE_COMMANDS = [
  command({
    words: 'run',
    what: 'start the service; make a home for it first when there is none',
    audience: 'service',
    options: HOME_OPTIONS,
    examples: ['latchkey run', 'latchkey run --home /srv/latchkey'],
    load: async () => {
      const { runService } = await import('../commands/run.ts')
      return (values, io) => runService(readHomeOptions(values, io), io)
    },
  }),
  command({
    words: 'demo',
    what: 'try everything: a service, people, an IdP and a gateway, gone again with Ctrl-C',
    audience: 'service',
    options: { port: { value: 'PORT', what: 'of the service; without it, a free one' } },
    examples: ['latchkey demo', 'latchkey demo --port 1280'],
    load: async () => (await import('../commands/demo.ts')).runDemo,
  }),
  command({
    words: 'init',
    what: 'make the home, the database and the administrator, and stop there',
    audience: 'service',
    options: HOME_OPTIONS,
    examples: ['LATCHKEY_ADDRESS=auth.example.com:443 latchkey init --home /srv/latchkey'],
    load: async () => {
      const { initHome } = await import('../commands/init.ts')
      return (values, io) => initHome(readHomeOptions(values, io), io)
    },
  }),
  command({
    words: 'config check',
    what: 'print every problem of the configuration and every value that is adjusted',
    audience: 'service',
    options: HOME_OPTIONS,
    examples: ['latchkey config check --home /srv/latchkey'],
    load: async () => {
      const { checkConfig } = await import('../commands/config-check.ts')
      return (values, io) => checkConfig(readHomeOptions(values, io), io)
    },
  }),
  command({
    words: 'keys rotate',
    what: 'make the next signing key; it is published now and signs in ten minutes',
    audience: 'service',
    options: {
      ...HOME_OPTIONS,
      context: {
        value: 'NAME',
        names: 'contexts',
        what: 'over the API of this context, and not in a home',
      },
      'revoke-now': {
        what: 'after a leak: the new key signs at once, and all older ones are withdrawn',
      },
    },
    examples: [
      'latchkey keys rotate --home /srv/latchkey',
      'latchkey keys rotate --context work --revoke-now',
    ],
    load: async () => (await import('../admin/rotate-keys.ts')).rotateKeysSomewhere,
  }),
  command({
    words: 'secret rotate',
    what: 'put another installation secret in the place of the one in use; instances start anew',
    audience: 'service',
    options: HOME_OPTIONS,
    examples: ['latchkey secret rotate --home /srv/latchkey'],
    load: async () => {
      const { rotateSecret } = await import('../commands/secret-rotate.ts')
      return (values, io) => rotateSecret(readHomeOptions(values, io), io)
    },
  }),
  command({
    words: 'admin recover',
    what: 'let an administrator in again: new password, no lock, no TOTP, the default policy',
    audience: 'service',
    options: {
      ...HOME_OPTIONS,
      identity: { value: 'NAME', what: 'where there are several: a name or an id' },
    },
    examples: ['latchkey admin recover --home /srv/latchkey --identity alice'],
    load: async () => {
      const { recoverAdministrator } = await import('../commands/admin-recover.ts')
      return (values, io) => recoverAdministrator(readHomeOptions(values, io), io, values.identity)
    },
  }),
  command({
    words: 'backup',
    what: 'write the whole database into one file, beside running instances or without',
    audience: 'service',
    options: {
      ...HOME_OPTIONS,
      out: { value: 'FILE', what: 'where it is written' },
      'with-secret': { what: 'the installation secret too, encrypted with a passphrase' },
      'passphrase-file': PASSPHRASE_FILE,
      force: { what: 'a file that is there already is replaced' },
    },
    examples: ['latchkey backup --home /srv/latchkey --out /mnt/backups/monday.lkb --with-secret'],
    load: async () => {
      const { backUp } = await import('../commands/backup.ts')
      return (values, io) => backUp(readHomeOptions(values, io), values, io)
    },
  }),
  command({
    words: 'restore',
    operands: [{ name: 'FILE' }],
    what: 'put a backup into an empty database, or only check it; every session ends',
    audience: 'service',
    options: {
      ...HOME_OPTIONS,
      verify: { what: 'check the backup and change nothing' },
      'passphrase-file': PASSPHRASE_FILE,
      force: { what: 'what is in the database already is replaced' },
    },
    examples: [
      'latchkey restore /mnt/backups/monday.lkb --verify',
      'latchkey restore /mnt/backups/monday.lkb --home /srv/latchkey',
    ],
    load: async () => {
      const { restore } = await import('../commands/restore.ts')
      return (values, io, [file = '']) => restore(readHomeOptions(values, io), file, values, io)
    },
  }),
  command({
    words: 'migrate-store',
    what: 'move everything to another database, SQLite to PostgreSQL or back',
    audience: 'service',
    options: {
      from: { value: 'DATABASE', what: 'sqlite:PATH or postgres://…' },
      to: { value: 'DATABASE', what: 'an empty one, in the same form' },
    },
    examples: [
      'latchkey migrate-store --from sqlite:/srv/latchkey/latchkey.db --to postgres://latchkey@db/latchkey',
    ],
    load: async () => (await import('../commands/migrate-store.ts')).migrateStore,
  }),
  command({
    words: 'gateway',
    what: 'let those with a session and its certificate through to a service behind it',
    audience: 'service',
    options: {
      controller: { value: 'URL', what: 'https://HOST:PORT of the controller that it follows' },
      identity: { value: 'FILE', what: 'its own identity: JSON with id, cert, key and ca, in PEM' },
      listen: { value: 'HOST:PORT', what: 'where it takes connections' },
      upstream: { value: 'URL', what: 'http://HOST:PORT of the service behind it' },
    },
    examples: [
      'latchkey gateway --controller https://auth.example.com --identity router.json \\\n' +
        '    --listen 0.0.0.0:8443 --upstream http://127.0.0.1:8080',
    ],
    load: async () => (await import('../commands/gateway.ts')).runGateway,
  }),
]
