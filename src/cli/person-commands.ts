/** The commands of people who log in. docs/cli.md. */
import { type Command, command } from './command.ts'
import { SESSION_OPTIONS } from './open-session.ts'

const { context, json } = SESSION_OPTIONS

export const PERSON_COMMANDS: readonly Command[] = [
  command({
    words: 'login',
    what: 'log in, with a browser where nothing else is said, and stay logged in',
    audience: 'person',
    options: {
      url: { value: 'URL', what: 'https://HOST:PORT of the server; known after the first login' },
      username: {
        value: 'NAME',
        what: 'with a password, which is asked for or read from standard input',
      },
      cert: { value: 'FILE', what: 'with a certificate, in PEM' },
      key: { value: 'FILE', what: 'its key, in PEM' },
      'ext-jwt': { value: 'FILE', what: 'with a JWT of an external signer; - for standard input' },
      identity: { value: 'FILE', what: 'with an identity file of "latchkey enroll"' },
      ca: { value: 'FILE', what: 'what the server is trusted by, in PEM' },
      'ca-fingerprint': {
        value: 'SHA256',
        what: 'trust the CA that has this fingerprint, unasked',
      },
      'client-id': { value: 'ID', what: 'edge.brand of the server, where it is not "service"' },
      'no-browser': { what: 'print the address, and open no window' },
      context: {
        value: 'NAME',
        what: 'log in into this context; it is made, and the current one from then on',
      },
    },
    examples: [
      'latchkey login --url https://auth.example.com',
      'latchkey login --username ada',
      'latchkey login --username ada < password.txt',
      'latchkey login --identity me.json --context work',
      'latchkey login --cert ada.pem --key ada.key',
      'latchkey login --ext-jwt - < token.jwt',
    ],
    load: async () => (await import('./person/login.ts')).logIn,
  }),
  command({
    words: 'logout',
    what: 'end the session, on the server too',
    audience: 'person',
    options: { context },
    examples: ['latchkey logout', 'latchkey logout --context work'],
    load: async () => (await import('./person/logout.ts')).logOut,
  }),
  command({
    words: 'whoami',
    what: 'say who is logged in, where, and since when',
    audience: 'person',
    options: SESSION_OPTIONS,
    examples: ['latchkey whoami', 'latchkey whoami --context work --json'],
    load: async () => (await import('./person/whoami.ts')).whoAmI,
  }),
  command({
    words: 'token',
    what: 'print an access token that is good for some time yet',
    audience: 'person',
    options: SESSION_OPTIONS,
    examples: [
      'curl -H "Authorization: Bearer $(latchkey token)" https://auth.example.com/edge/client/v1/current-identity',
      'latchkey token --json',
    ],
    load: async () => (await import('./person/token.ts')).printToken,
  }),
  command({
    words: 'cert',
    what: 'make a key and get a certificate of the session for it, as PEM files',
    audience: 'person',
    options: {
      out: {
        value: 'DIR',
        what: 'where session-key.pem, session-cert.pem and session-ca.pem are written',
      },
      ...SESSION_OPTIONS,
    },
    examples: ['latchkey cert --out ~/.latchkey'],
    load: async () => (await import('./person/cert.ts')).writeCertificate,
  }),
  command({
    words: 'enroll',
    what: 'exchange the token of an invitation for an identity file',
    audience: 'person',
    operands: [{ name: 'FILE' }],
    options: {
      out: { value: 'FILE', what: 'the identity file; one that exists is not touched' },
      ca: {
        value: 'FILE',
        what: 'what the server is trusted by, where that is known; else the token says it',
      },
      json,
    },
    examples: [
      'latchkey enroll token.jwt --out me.json',
      'latchkey enroll - --out me.json < token.jwt',
    ],
    load: async () => (await import('./person/enroll.ts')).enrollIdentity,
  }),
  command({
    words: 'context list',
    what: 'list the servers that one is, or was, logged in to',
    audience: 'person',
    options: { json },
    examples: ['latchkey context list', 'latchkey context list --json'],
    load: async () => (await import('./person/contexts.ts')).listContexts,
  }),
  command({
    words: 'context use',
    what: 'make another context the current one',
    audience: 'person',
    operands: [{ name: 'NAME' }],
    options: {},
    examples: ['latchkey context use work'],
    load: async () => (await import('./person/contexts.ts')).useContext,
  }),
  command({
    words: 'context remove',
    what: 'forget a context and its credentials',
    audience: 'person',
    operands: [{ name: 'NAME' }],
    options: {},
    examples: ['latchkey context remove work'],
    load: async () => (await import('./person/contexts.ts')).removeContext,
  }),
]
