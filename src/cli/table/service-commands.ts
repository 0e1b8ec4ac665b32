/** The commands for operators of the service. */
import { WAIT, YES } from '../admin/options.ts'
import { readHomeOptions } from '../home/home-options.ts'
import { commandFor } from './command.ts'

const command = commandFor('service')

export const HOME_OPTIONS = {
  home: { value: 'DIR', what: 'the home folder (else LATCHKEY_HOME, else ./latchkey-data)' },
  config: { value: 'FILE', what: 'a configuration file other than controller.yml in the home' },
} as const

export const RUN_OPTIONS = {
  ...HOME_OPTIONS,
  port: {
    value: 'PORT',
    what: 'port to listen on; in an existing home for this run (else LATCHKEY_ADDRESS, else the file)',
  },
} as const

const PASSPHRASE_FILE = {
  value: 'FILE',
  what: 'read the passphrase from the first line of this file; default: ask for it',
} as const

export const SERVICE_COMMANDS = [
  command({
    words: 'run',
    what: 'start the service; create its home first if there is none',
    options: RUN_OPTIONS,
    examples: ['latchkey run', 'latchkey run --home /srv/latchkey', 'latchkey run --port 8443'],
    load: async () => {
      const { runService } = await import('../commands/run.ts')
      return (values, io) => runService(readHomeOptions(values, io), io)
    },
  }),
  command({
    words: 'demo',
    what: 'try everything: a service, users, an IdP and a gateway, until Ctrl-C',
    options: { port: { value: 'PORT', what: 'port of the service; default: a free one' } },
    examples: ['latchkey demo', 'latchkey demo --port 1280'],
    load: async () => (await import('../commands/demo.ts')).runDemo,
  }),
  command({
    words: 'fake-server',
    what: 'start a controller for testing clients, which fails in the ways that you choose',
    options: {
      list: { what: 'print the scenarios, and what a good client does in each' },
      scenario: {
        value: 'NAME',
        isList: true,
        what: 'begin this one after the first login; several: repeat it, or separate them with commas',
      },
      now: { what: 'begin the scenarios at once' },
      script: {
        value: 'FILE',
        what: 'JSON: [{"after": "start" | "login" | "refresh" | 7, "scenario": NAME}, …]',
      },
      out: {
        value: 'FILE',
        what: 'write address, CA and users there as JSON when it is ready; default: print them',
      },
      port: { value: 'PORT', what: 'default: a free one' },
      json: { what: 'print the list as JSON' },
    },
    examples: [
      'latchkey fake-server --list',
      'latchkey fake-server --scenario lost-refresh',
      'latchkey fake-server --scenario clock-ahead,rate-limited --now',
    ],
    load: async () => (await import('../commands/fake-server.ts')).runFakeServer,
  }),
  command({
    words: 'init',
    what: 'create the home, the database and the administrator, without starting the service',
    options: { ...HOME_OPTIONS, port: { value: 'PORT', what: 'port of a new home' } },
    examples: ['LATCHKEY_ADDRESS=auth.example.com:443 latchkey init --home /srv/latchkey'],
    load: async () => (await import('../commands/init.ts')).initHome,
  }),
  command({
    words: 'trust',
    what: 'make the browsers of this user trust the CA of a service; shows what it does and asks',
    options: {
      ...HOME_OPTIONS,
      ca: { value: 'FILE', what: 'another CA, in PEM; default: the one of the home' },
      remove: { what: 'undo it' },
      ...YES,
    },
    examples: ['latchkey trust', 'latchkey trust --remove'],
    load: async () => {
      const { trust } = await import('../trust/trust.ts')
      return (values, io) => trust(values, io)
    },
  }),
  command({
    words: 'config check',
    what: 'print every problem and every adjusted value of the configuration, and files that everyone can read',
    options: HOME_OPTIONS,
    examples: ['latchkey config check --home /srv/latchkey'],
    load: async () => (await import('../commands/config-check.ts')).checkConfig,
  }),
  command({
    words: 'keys rotate',
    what: 'create the next signing keys; they are published now and used for signing after ten minutes',
    options: {
      ...HOME_OPTIONS,
      context: {
        value: 'NAME',
        names: 'contexts',
        what: 'use the API of this context, not a home',
      },
      'revoke-now': {
        what: 'after a leak: the new keys sign at once, and all older ones are withdrawn',
      },
      ...WAIT,
    },
    examples: [
      'latchkey keys rotate --home /srv/latchkey',
      'latchkey keys rotate --context work --revoke-now --wait 30',
    ],
    load: async () => (await import('../admin/rotate-keys.ts')).rotateKeysSomewhere,
  }),
  command({
    words: 'secret rotate',
    what: 'replace the installation secret; running instances stop and must be started again',
    options: HOME_OPTIONS,
    examples: ['latchkey secret rotate --home /srv/latchkey'],
    load: async () => (await import('../commands/secret-rotate.ts')).rotateSecret,
  }),
  command({
    words: 'admin recover',
    what: 'restore access for an administrator: new password, no lock, no TOTP, the default policy',
    options: {
      ...HOME_OPTIONS,
      identity: { value: 'NAME', what: 'name or id of the administrator, if there are several' },
    },
    examples: ['latchkey admin recover --home /srv/latchkey --identity alice'],
    load: async () => (await import('../commands/admin-recover.ts')).recoverAdministrator,
  }),
  command({
    words: 'backup',
    what: 'write the whole database into one file; instances may be running',
    options: {
      ...HOME_OPTIONS,
      out: { value: 'FILE', what: 'the file to write' },
      'with-secret': { what: 'include the installation secret, encrypted with a passphrase' },
      'passphrase-file': PASSPHRASE_FILE,
      force: { what: 'replace an existing file' },
    },
    examples: ['latchkey backup --home /srv/latchkey --out /mnt/backups/monday.lkb --with-secret'],
    load: async () => (await import('../commands/backup.ts')).backUp,
  }),
  command({
    words: 'restore',
    operands: [{ name: 'FILE' }],
    what: 'restore a backup into an empty database, or only check it; all sessions end',
    options: {
      ...HOME_OPTIONS,
      verify: { what: 'check the backup and change nothing' },
      'passphrase-file': PASSPHRASE_FILE,
      force: { what: 'replace the contents of the database' },
    },
    examples: [
      'latchkey restore /mnt/backups/monday.lkb --verify',
      'latchkey restore /mnt/backups/monday.lkb --home /srv/latchkey',
    ],
    load: async () => (await import('../commands/restore.ts')).restore,
  }),
  command({
    words: 'migrate-store',
    what: 'move everything to another database, SQLite to PostgreSQL or back',
    options: {
      from: { value: 'DATABASE', what: 'sqlite:PATH or postgres://…' },
      to: { value: 'DATABASE', what: 'an empty database, in the same form' },
    },
    examples: [
      'latchkey migrate-store --from sqlite:/srv/latchkey/latchkey.db --to postgres://latchkey@db/latchkey',
    ],
    load: async () => (await import('../commands/migrate-store.ts')).migrateStore,
  }),
  command({
    words: 'gateway',
    what: 'run a gateway that admits callers with a session and its certificate',
    options: {
      home: { value: 'FOLDER', what: 'gateway.yml and identity.json; default ./latchkey-gateway' },
      enroll: {
        value: 'FILE',
        what: 'make the home with the token of "latchkey create router"; - is standard input',
      },
      controller: { value: 'URL', what: 'https://HOST:PORT of the controller' },
      identity: {
        value: 'FILE',
        what: 'identity of the gateway: JSON with id, cert, key and ca, in PEM',
      },
      listen: { value: 'HOST:PORT', what: 'address to listen on' },
      upstream: {
        value: '[NAME=]URL',
        what: 'http://HOST:PORT of the service behind it, or tcp://HOST:PORT',
        isList: true,
      },
    },
    examples: [
      'latchkey gateway --enroll gw1.jwt --listen 0.0.0.0:8443 --upstream http://127.0.0.1:3000',
      'latchkey gateway',
      'latchkey gateway --controller https://auth.example.com --identity router.json \\\n' +
        '    --listen 0.0.0.0:8443 --upstream http://127.0.0.1:8080',
    ],
    load: async () => (await import('../gateway/gateway.ts')).runGateway,
  }),
]
