/** The commands for users. docs/cli.md. */
import { WAIT } from '../admin/options.ts'
import { SESSION_OPTIONS } from '../contexts/session-options.ts'
import { type Command, commandFor } from './command.ts'

const command = commandFor('person')
const { context, json } = SESSION_OPTIONS

export const PERSON_COMMANDS: readonly Command[] = [
  command({
    words: 'login',
    what: 'log in, by default with a browser, and stay logged in',
    options: {
      url: {
        value: 'URL',
        what: 'https://HOST:PORT of the server; remembered after the first login',
      },
      username: {
        value: 'NAME',
        what: 'with a password, from the terminal or standard input',
      },
      cert: { value: 'FILE', what: 'with a certificate, in PEM' },
      key: { value: 'FILE', what: 'its key, in PEM' },
      'ext-jwt': { value: 'FILE', what: 'with a JWT of an external signer; - for standard input' },
      identity: { value: 'FILE', what: 'with an identity file from "latchkey enroll"' },
      ca: { value: 'FILE', what: 'CA certificates to trust for the server, in PEM' },
      'ca-fingerprint': {
        value: 'SHA256',
        what: 'trust the CA with this fingerprint without asking',
      },
      'client-id': { value: 'ID', what: 'edge.brand of the server, if it is not "service"' },
      'no-browser': { what: 'print the address for a browser of this machine, without opening it' },
      device: {
        what: 'approve on another device, with a code; the default on machines without a browser',
      },
      bind: { what: 'bind the session to a key, so that only this context can use its tokens' },
      context: {
        value: 'NAME',
        names: 'contexts',
        what: 'log in to this context, and make it the current one',
      },
    },
    examples: [
      'latchkey login --url https://auth.example.com',
      'latchkey login --device',
      'latchkey login --username ada',
      'latchkey login --username ada < password.txt',
      'latchkey login --identity me.json --context work',
      'latchkey login --cert ada.pem --key ada.key',
      'latchkey login --ext-jwt - < token.jwt',
    ],
    load: async () => (await import('../person/login.ts')).logIn,
  }),
  command({
    words: 'logout',
    what: 'log out: end the session on the server and here',
    options: { context, ...WAIT },
    examples: ['latchkey logout', 'latchkey logout --context work', 'latchkey logout --wait 10'],
    load: async () => (await import('../person/logout.ts')).logOut,
  }),
  command({
    words: 'whoami',
    what: 'show who is logged in, where, and since when',
    options: SESSION_OPTIONS,
    examples: ['latchkey whoami', 'latchkey whoami --context work --json'],
    load: async () => (await import('../person/whoami.ts')).whoAmI,
  }),
  command({
    words: 'token',
    what: 'print a fresh access token',
    options: SESSION_OPTIONS,
    examples: [
      'curl -H "Authorization: Bearer $(latchkey token)" https://auth.example.com/edge/client/v1/current-identity',
      'latchkey token --json',
    ],
    load: async () => (await import('../person/token.ts')).printToken,
  }),
  command({
    words: 'cert',
    what: 'create a key and get a session certificate for it, as PEM files',
    options: {
      out: {
        value: 'DIR',
        what: 'folder for session-key.pem, session-cert.pem and session-ca.pem',
      },
      ...SESSION_OPTIONS,
    },
    examples: ['latchkey cert --out ~/.latchkey'],
    load: async () => (await import('../person/cert.ts')).writeCertificate,
  }),
  command({
    words: 'connect',
    what: 'reach a TCP service behind a gateway, such as PostgreSQL or SSH',
    operands: [{ name: 'GATEWAY/SERVICE' }],
    options: {
      listen: {
        value: 'HOST:PORT',
        what: 'listen here, and carry every connection; port 0: a free one',
      },
      stdio: {
        what: 'carry one connection over standard input and output, as an SSH ProxyCommand',
      },
      ca: { value: 'FILE', what: "CA of the gateway, in PEM, if it is not the network's" },
      context,
    },
    examples: [
      'latchkey connect gw1/postgres --listen 127.0.0.1:5432',
      'latchkey connect gw1.example.com:8443/postgres --listen 127.0.0.1:5432',
      'ssh -o ProxyCommand="latchkey connect gw1/ssh --stdio" ada@build',
    ],
    load: async () => (await import('../person/connect/connect.ts')).connectService,
  }),
  command({
    words: 'enroll',
    what: 'exchange an invitation for a password or a certificate',
    operands: [{ name: 'FILE' }],
    options: {
      out: {
        value: 'FILE',
        what: 'the identity file to write, for a certificate; must not exist',
      },
      username: { value: 'NAME', what: 'the username of the invitation, for a password' },
      cert: { value: 'FILE', what: 'a certificate of the CA that the invitation is for, in PEM' },
      key: { value: 'FILE', what: 'its key, in PEM' },
      ca: {
        value: 'FILE',
        what: 'CA certificates to trust for the server; default: those in the token',
      },
      json,
    },
    examples: [
      'latchkey enroll token.jwt --out me.json',
      'latchkey enroll token.jwt --username ada',
      'latchkey enroll token.jwt --cert device.pem --key device.key',
      'latchkey enroll - --out me.json < token.jwt',
    ],
    load: async () => (await import('../person/enroll.ts')).enrollIdentity,
  }),
  command({
    words: 'password',
    what: 'change your own password; all your other sessions end',
    options: SESSION_OPTIONS,
    examples: ['latchkey password', 'latchkey password < current-and-new.txt'],
    load: async () => (await import('../person/account/password.ts')).changePassword,
  }),
  command({
    words: 'mfa status',
    what: 'show whether your logins ask for a TOTP code, and how many recovery codes are left',
    options: SESSION_OPTIONS,
    examples: ['latchkey mfa status'],
    load: async () => (await import('../person/account/mfa.ts')).showMfa,
  }),
  command({
    words: 'mfa enable',
    what: 'set up an authenticator app, with a QR code in the terminal',
    options: { context },
    examples: ['latchkey mfa enable'],
    load: async () => (await import('../person/account/mfa.ts')).enableMfa,
  }),
  command({
    words: 'mfa disable',
    what: 'remove the authenticator app; asks for a code',
    options: SESSION_OPTIONS,
    examples: ['latchkey mfa disable'],
    load: async () => (await import('../person/account/mfa.ts')).disableMfa,
  }),
  command({
    words: 'mfa recovery-codes',
    what: 'print new recovery codes, which void the old ones; asks for a code',
    options: SESSION_OPTIONS,
    examples: ['latchkey mfa recovery-codes'],
    load: async () => (await import('../person/account/mfa.ts')).renewRecoveryCodes,
  }),
  command({
    words: 'context list',
    what: 'list your contexts: servers and logins',
    options: { json },
    examples: ['latchkey context list', 'latchkey context list --json'],
    load: async () => (await import('../person/contexts.ts')).listContexts,
  }),
  command({
    words: 'context use',
    what: 'switch to another context',
    operands: [{ name: 'NAME', names: 'contexts' }],
    examples: ['latchkey context use work'],
    load: async () => (await import('../person/contexts.ts')).useContext,
  }),
  command({
    words: 'context remove',
    what: 'delete a context and its credentials',
    operands: [{ name: 'NAME', names: 'contexts' }],
    examples: ['latchkey context remove work'],
    load: async () => (await import('../person/contexts.ts')).removeContext,
  }),
]
