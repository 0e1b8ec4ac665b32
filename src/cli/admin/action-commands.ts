/** Administrator commands other than writing entities: blocking and unblocking, dry runs, keys, events. */
import { EXPIRY_KINDS } from '../../entities/expiring.ts'
import { SESSION_OPTIONS } from '../contexts/session-options.ts'
import { type Command, commandFor } from '../table/command.ts'
import { optionsOf } from './entities/fields.ts'
import { POLICIES } from './entities/resources/policies.ts'
import { BODY, QR, WAIT, YES } from './options.ts'

const command = commandFor('administrator', SESSION_OPTIONS)

const expiresAt = (what: string) =>
  ({ value: 'TIME', what: `when the ${what} expires, such as 2026-12-24T18:00:00Z` }) as const

const RESET_OPTIONS = { 'expires-at': expiresAt('link'), ...QR }

export const ACTION_COMMANDS: readonly Command[] = [
  command({
    words: 'describe identity',
    what: 'show an identity with its credentials, sessions and newest events',
    operands: [{ name: 'NAME', names: 'identity' }],
    examples: ['latchkey describe identity alice'],
    load: async () => (await import('./describe-identity.ts')).describeIdentity,
  }),
  command({
    words: 'describe session',
    what: 'show everything that happened to a session, and who has confirmed its end',
    operands: [{ name: 'ID', names: 'session' }],
    examples: ['latchkey describe session 3k9x1m7q2v5b8n4c6z0'],
    load: async () => (await import('./sessions/describe-session.ts')).describeSession,
  }),
  command({
    words: 'create router',
    what: 'create a router, and the one-time token that its gateway enrolls with',
    operands: [{ name: 'NAME' }],
    options: {
      host: {
        value: 'HOST[:PORT]',
        what: 'where browsers and clients reach the gateway; repeatable',
        isList: true,
      },
      out: { value: 'FILE', what: 'file for the token, which must not exist' },
    },
    examples: [
      'latchkey create router gw1 --host gw1.example.com --out gw1.jwt',
      'latchkey create router gw2 --host gw2.example.com:8443 --host 10.1.2.3',
    ],
    load: async () => (await import('./routers/create-router.ts')).createRouter,
  }),
  command({
    words: 'list routers',
    what: 'list edge routers, with the time of their last contact',
    examples: ['latchkey list routers'],
    load: async () => (await import('./routers/list-routers.ts')).listRouters,
  }),
  command({
    words: 'disable identity',
    what: 'disable identities: refuse their logins and end their sessions',
    operands: [{ name: 'NAME', names: 'identity', isList: true }],
    options: {
      ...WAIT,
      minutes: { value: 'N', what: 'for how long; default: until it is enabled' },
    },
    examples: [
      'latchkey disable identity alice',
      'latchkey disable identity alice --minutes 60',
      'latchkey disable identity alice --wait 30',
    ],
    load: async () => (await import('./identity-actions.ts')).disableIdentities,
  }),
  command({
    words: 'enable identity',
    what: 'enable disabled identities',
    operands: [{ name: 'NAME', names: 'identity', isList: true }],
    examples: ['latchkey enable identity alice bob'],
    load: async () => (await import('./identity-actions.ts')).enableIdentities,
  }),
  command({
    words: 'unlock',
    what: 'unlock a password that is locked after too many failures',
    operands: [{ name: 'NAME', names: 'authenticator', isList: true }],
    examples: ['latchkey unlock alice'],
    load: async () => (await import('./identity-actions.ts')).unlock,
  }),
  command({
    words: 're-enroll',
    what: 'replace a password or certificate with an invitation; it stops working at once',
    operands: [{ name: 'NAME', names: 'identity' }],
    options: {
      method: {
        value: 'password|cert',
        choices: ['password', 'cert'],
        what: 'which one, if the identity has both',
      },
      'expires-at': expiresAt('invitation'),
      ...QR,
      ...WAIT,
      ...YES,
    },
    examples: ['latchkey re-enroll laptop-7', 'latchkey re-enroll alice --method password --yes'],
    load: async () => (await import('./re-enroll.ts')).reEnroll,
  }),
  command({
    words: 'reset password',
    what: 'create a link with which a person chooses a new password; the current one works until then',
    operands: [{ name: 'NAME', names: 'identity' }],
    options: RESET_OPTIONS,
    examples: ['latchkey reset password alice', 'latchkey reset password alice --qr'],
    load: async () => (await import('./reset.ts')).resetPassword,
  }),
  command({
    words: 'reset mfa',
    what: 'create a link with which a person replaces a lost authenticator app or passkey',
    operands: [{ name: 'NAME', names: 'identity' }],
    options: RESET_OPTIONS,
    examples: ['latchkey reset mfa alice'],
    load: async () => (await import('./reset.ts')).resetMfa,
  }),
  command({
    words: 'mfa remove',
    what: 'remove the TOTP, the passkeys and the recovery codes of an identity, for a lost phone',
    operands: [{ name: 'NAME', names: 'identity', isList: true }],
    options: YES,
    examples: ['latchkey mfa remove alice'],
    load: async () => (await import('./identity-actions.ts')).removeMfa,
  }),
  command({
    words: 'passkeys list',
    what: 'list the passkeys of an identity',
    operands: [{ name: 'NAME', names: 'identity' }],
    examples: ['latchkey passkeys list alice'],
    load: async () => (await import('./identity-actions.ts')).listPasskeys,
  }),
  command({
    words: 'passkeys remove',
    what: 'remove one passkey of an identity, and end the sessions that it began',
    operands: [{ name: 'NAME', names: 'identity' }, { name: 'PASSKEY' }],
    options: YES,
    examples: ['latchkey passkeys remove alice 3k9x1m7q2v5b8n4c6z0'],
    load: async () => (await import('./identity-actions.ts')).removePasskey,
  }),
  command({
    words: 'sessions end-all',
    what: 'end all sessions of one identity, or of all',
    options: {
      identity: { value: 'NAME', names: 'identity', what: 'of this identity' },
      everybody: { what: 'of all identities, including your own' },
      ...WAIT,
      ...YES,
    },
    examples: [
      'latchkey sessions end-all --identity alice',
      'latchkey sessions end-all --everybody --yes',
    ],
    load: async () => (await import('./identity-actions.ts')).endSessions,
  }),
  command({
    words: 'policy what-if',
    what: 'preview a change of a policy: who could no longer sign in, which sessions would end',
    operands: [{ name: 'NAME', names: 'policy' }],
    options: { ...optionsOf(POLICIES.update?.fields ?? []), ...BODY },
    examples: ['latchkey policy what-if default --no-allow-password --require-totp'],
    load: async () => (await import('./policy-what-if.ts')).policyWhatIf,
  }),
  command({
    words: 'signer check',
    what: 'check a JWT against a signer, step by step, without logging in',
    operands: [{ name: 'NAME', names: 'signer' }],
    options: { jwt: { value: 'FILE', what: 'the JWT; - is standard input' } },
    examples: ['latchkey signer check partner-idp --jwt token.txt'],
    load: async () => (await import('./check-signer.ts')).checkSigner,
  }),
  command({
    words: 'ca verify',
    what: 'prove that you have the key of a CA, with a certificate that has its token as common name',
    operands: [{ name: 'NAME', names: 'ca' }],
    options: { cert: { value: 'FILE', what: 'the certificate in PEM; - is standard input' } },
    examples: ['latchkey ca verify factory --cert proof.pem'],
    load: async () => (await import('./cas.ts')).verifyCa,
  }),
  command({
    words: 'ca token',
    what: 'print the token that a certificate for "ca verify" has as its common name',
    operands: [{ name: 'NAME', names: 'ca' }],
    examples: [
      'openssl req -new -key k.pem -subj "/CN=$(latchkey ca token factory)" -out proof.csr',
    ],
    load: async () => (await import('./cas.ts')).showToken,
  }),
  command({
    words: 'ca jwt',
    what: 'print the JWT with which holders of a certificate of a CA enroll themselves',
    operands: [{ name: 'NAME', names: 'ca' }],
    examples: ['latchkey ca jwt factory > factory.jwt'],
    load: async () => (await import('./cas.ts')).showJwt,
  }),
  command({
    words: 'overview',
    what: 'show sign-ins, sessions, instances, what expires soon and the last backup',
    examples: ['latchkey overview'],
    load: async () => (await import('./overview.ts')).showOverview,
  }),
  command({
    words: 'expiry',
    what: 'list certificates, CAs and signing keys by their end',
    options: {
      days: { value: 'N', what: 'only what ends within N days; exit code 1 if there is any' },
      kind: { value: 'KIND', choices: EXPIRY_KINDS, what: 'only of this kind' },
    },
    examples: ['latchkey expiry', 'latchkey expiry --days 30 --kind server-certificate'],
    load: async () => (await import('./overview.ts')).showExpiry,
  }),
  command({
    words: 'keys list',
    what: 'list the keys that sign tokens',
    examples: ['latchkey keys list'],
    load: async () => (await import('./keys.ts')).listKeys,
  }),
  command({
    words: 'events',
    what: 'show the newest audit events, the newest last',
    options: {
      follow: { what: 'keep printing new events until Ctrl-C' },
      type: { value: 'TYPE', what: 'only of this type, such as login.failed' },
      identity: {
        value: 'NAME',
        names: 'identity',
        what: 'only of this identity, even if it was deleted',
      },
      actor: {
        value: 'NAME',
        names: 'identity',
        what: 'only what this identity did, even if it was deleted',
      },
      request: { value: 'ID', what: 'only of this request' },
      filter: { value: 'FILTER', what: 'only these (docs/audit.md)' },
      limit: { value: 'N', what: 'how many; default: 20' },
    },
    examples: [
      'latchkey events --follow',
      'latchkey events --identity alice --type login.failed',
      'latchkey events --actor admin',
      `latchkey events --filter 'address = "192.0.2.7"' --limit 100 --json`,
    ],
    load: async () => (await import('./events/events.ts')).showEvents,
  }),
  command({
    words: 'explain',
    what: 'explain why a request was refused, and what to do',
    operands: [{ name: 'REQUEST-ID', isOptional: true }],
    options: {
      last: { what: 'the newest request that was refused, instead of an id' },
      identity: { value: 'NAME', names: 'identity', what: 'with --last: of this identity' },
      log: { value: 'FILE', what: 'the log of the gateway that refused it; - is standard input' },
    },
    examples: [
      'latchkey explain 2q6k1p8w0c3r9t5y7u4',
      'latchkey explain --last',
      'latchkey explain --last --identity alice',
      'latchkey explain 2q6k1p8w0c3r9t5y7u4 --log gateway.log',
    ],
    load: async () => (await import('./events/explain.ts')).explain,
  }),
]
