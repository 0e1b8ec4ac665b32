/** What administrators do besides writing entities: cutting off and letting in, dry runs, keys, events. */
import { SESSION_OPTIONS } from '../contexts/open-session.ts'
import { type Command, command } from '../table/command.ts'
import { YES } from './entities/entity-commands.ts'

export const ACTION_COMMANDS: readonly Command[] = [
  command({
    words: 'disable identity',
    what: 'let an identity in no more; all its sessions end',
    audience: 'administrator',
    operands: [{ name: 'NAME' }],
    options: {
      minutes: { value: 'N', what: 'for how long; without it, until it is enabled' },
      ...SESSION_OPTIONS,
    },
    examples: ['latchkey disable identity alice', 'latchkey disable identity alice --minutes 60'],
    load: async () => {
      const { disableIdentity } = await import('./identity-actions.ts')
      return (values, io, [name = '']) => disableIdentity(name, values, io)
    },
  }),
  command({
    words: 'enable identity',
    what: 'let a disabled identity in again',
    audience: 'administrator',
    operands: [{ name: 'NAME' }],
    options: SESSION_OPTIONS,
    examples: ['latchkey enable identity alice'],
    load: async () => {
      const { enableIdentity } = await import('./identity-actions.ts')
      return (values, io, [name = '']) => enableIdentity(name, values, io)
    },
  }),
  command({
    words: 'unlock',
    what: 'open a password that was locked for too many failures',
    audience: 'administrator',
    operands: [{ name: 'NAME' }],
    options: SESSION_OPTIONS,
    examples: ['latchkey unlock alice'],
    load: async () => {
      const { unlock } = await import('./identity-actions.ts')
      return (values, io, [name = '']) => unlock(name, values, io)
    },
  }),
  command({
    words: 're-enroll',
    what: 'put an invitation in the place of a password or certificate, which is worth nothing at once',
    audience: 'administrator',
    operands: [{ name: 'NAME' }],
    options: {
      method: {
        value: 'password|cert',
        choices: ['password', 'cert'],
        what: 'which one, where somebody has both',
      },
      'expires-at': {
        value: 'TIME',
        what: 'until when the invitation is good, such as 2026-12-24T18:00:00Z',
      },
      ...YES,
      ...SESSION_OPTIONS,
    },
    examples: ['latchkey re-enroll laptop-7', 'latchkey re-enroll alice --method password --yes'],
    load: async () => {
      const { reEnroll } = await import('./re-enroll.ts')
      return (values, io, [name = '']) => reEnroll(name, values, io)
    },
  }),
  command({
    words: 'mfa remove',
    what: 'remove the TOTP of an identity and its recovery codes, for a lost phone',
    audience: 'administrator',
    operands: [{ name: 'NAME' }],
    options: { ...YES, ...SESSION_OPTIONS },
    examples: ['latchkey mfa remove alice'],
    load: async () => {
      const { removeMfa } = await import('./identity-actions.ts')
      return (values, io, [name = '']) => removeMfa(name, values, io)
    },
  }),
  command({
    words: 'sessions end-all',
    what: 'end all sessions of an identity, or of everybody',
    audience: 'administrator',
    options: {
      identity: { value: 'NAME', what: 'whose' },
      everybody: { what: 'those of everybody, your own too' },
      ...YES,
      ...SESSION_OPTIONS,
    },
    examples: [
      'latchkey sessions end-all --identity alice',
      'latchkey sessions end-all --everybody --yes',
    ],
    load: async () => (await import('./identity-actions.ts')).endSessions,
  }),
  command({
    words: 'signer check',
    what: 'try a JWT against a signer, step by step; nobody is logged in',
    audience: 'administrator',
    operands: [{ name: 'NAME' }],
    options: {
      jwt: { value: 'FILE', what: 'the JWT; - is standard input' },
      ...SESSION_OPTIONS,
    },
    examples: ['latchkey signer check partner-idp --jwt token.txt'],
    load: async () => {
      const { checkSigner } = await import('./check-signer.ts')
      return (values, io, [name = '']) => checkSigner(name, values, io)
    },
  }),
  command({
    words: 'ca verify',
    what: 'prove that you hold the key of a CA, by a certificate with its token as common name',
    audience: 'administrator',
    operands: [{ name: 'NAME' }],
    options: {
      cert: { value: 'FILE', what: 'the certificate in PEM; - is standard input' },
      ...SESSION_OPTIONS,
    },
    examples: ['latchkey ca verify factory --cert proof.pem'],
    load: async () => {
      const { verifyCa } = await import('./cas.ts')
      return (values, io, [name = '']) => verifyCa(name, values, io)
    },
  }),
  command({
    words: 'ca token',
    what: 'print the token that a certificate for "ca verify" has as its common name',
    audience: 'administrator',
    operands: [{ name: 'NAME' }],
    options: SESSION_OPTIONS,
    examples: [
      'openssl req -new -key k.pem -subj "/CN=$(latchkey ca token factory)" -out proof.csr',
    ],
    load: async () => {
      const { showToken } = await import('./cas.ts')
      return (values, io, [name = '']) => showToken(name, values, io)
    },
  }),
  command({
    words: 'ca jwt',
    what: 'print the JWT that lets whoever has a certificate of a CA enroll by itself',
    audience: 'administrator',
    operands: [{ name: 'NAME' }],
    options: SESSION_OPTIONS,
    examples: ['latchkey ca jwt factory > factory.jwt'],
    load: async () => {
      const { showJwt } = await import('./cas.ts')
      return (values, io, [name = '']) => showJwt(name, values, io)
    },
  }),
  command({
    words: 'keys list',
    what: 'list the keys that sign tokens',
    audience: 'administrator',
    options: SESSION_OPTIONS,
    examples: ['latchkey keys list'],
    load: async () => (await import('./keys.ts')).listKeys,
  }),
  command({
    words: 'events',
    what: 'show what happened: the newest audit events, the newest last',
    audience: 'administrator',
    options: {
      follow: { what: 'go on with what happens from now on, until Ctrl-C' },
      type: { value: 'TYPE', what: 'only of this type, such as login.failed' },
      identity: { value: 'NAME', what: 'only of this identity' },
      request: { value: 'ID', what: 'only of this request' },
      filter: { value: 'FILTER', what: 'only these (docs/audit.md)' },
      limit: { value: 'N', what: 'how many; 20 without it' },
      ...SESSION_OPTIONS,
    },
    examples: [
      'latchkey events --follow',
      'latchkey events --identity alice --type login.failed',
      `latchkey events --filter 'address = "192.0.2.7"' --limit 100 --json`,
    ],
    load: async () => (await import('./events/events.ts')).showEvents,
  }),
  command({
    words: 'explain',
    what: 'say what exactly was wrong with the request that got this error, and what to do',
    audience: 'administrator',
    operands: [{ name: 'REQUEST-ID' }],
    options: SESSION_OPTIONS,
    examples: ['latchkey explain 2q6k1p8w0c3r9t5y7u4'],
    load: async () => {
      const { explain } = await import('./events/explain.ts')
      return (values, io, [id = '']) => explain(id, values, io)
    },
  }),
]
