/**
 * In which tests every command is run, once as it is meant and once with its commonest mistake.
 * test/process/cli-every-command.test.ts fails for a command without a row, and for a row whose test is gone. In the
 * file of `done` the first run of the command is a process of its own (run-command.ts).
 */
export type Where = readonly [file: string, title: string]

export interface Row {
  readonly done: Where
  readonly mistaken: Where
}

const ACTIONS = 'cli-admin-actions'
const CHECKS = 'cli-admin-checks'
const ADMIN = 'cli-admin'
const ENTITIES = 'cli-entities'
const ACCOUNT: Row = {
  done: ['cli-account', 'TOTP is set up on a terminal, renewed and taken away'],
  mistaken: ['cli-account', 'TOTP is set up on a terminal, renewed and taken away'],
}

/** Before any login, whatever needs one is a mistake. */
const LOGGED_OUT: Where = [
  'cli-sessions',
  'before any login every command says what to do, with exit code 77',
]

const both = (...where: Where): Row => ({ done: where, mistaken: where })

/** The mistakes of a verb, which all its entities share: their code is one. */
const FILTER: Where = [ADMIN, 'a list says when it is not whole, and --all makes it whole']
const NOBODY: Where = [ENTITIES, 'an authenticator is listed, and shown by its username']
const NOTHING: Where = [ADMIN, 'each kind of refusal has its exit code']
const GONE: Where = [ENTITIES, 'a deleted credential no longer logs in']

const MADE: Where = [ADMIN, 'an identity is made by options, read, listed, changed and deleted']
const PASSWORD: Where = [ADMIN, 'reads a password from a file that other users cannot read']
const POLICY: Where = [ADMIN, 'a policy is made by options that name signers']
const CA: Where = [
  ADMIN,
  'registers a CA from a file, with the field that contains the external id',
]
const INVITED: Where = [ADMIN, 'an identity that is invited gets its token, this once']
const SIGNER: Where = [ENTITIES, 'a signer is listed, changed and deleted']
const ENROLLMENT: Where = [ENTITIES, 'creates, shows and deletes an enrollment']

export const ROWS: Readonly<Record<string, Row>> = {
  login: {
    done: ['cli-login', 'asks for it on a terminal, and shows nothing of it'],
    mistaken: ['cli-login-mistakes', 'a login that makes no sense is exit code 64, and says why'],
  },
  logout: {
    done: ['cli-sessions', 'ends the session on the server and forgets its tokens'],
    mistaken: LOGGED_OUT,
  },
  whoami: {
    done: ['cli-enroll', 'becomes an identity file, which logs in without any other word'],
    mistaken: LOGGED_OUT,
  },
  token: {
    done: ['cli-sessions', 'is printed alone, or with its end as JSON'],
    mistaken: LOGGED_OUT,
  },
  cert: {
    done: ['cli-sessions', 'is written with its key, which other users cannot read'],
    mistaken: ['cli-sessions', 'needs a place to go to'],
  },
  connect: {
    done: [
      'cli-connect',
      'connections over a local port reach the service, until the session ends',
    ],
    mistaken: ['cli-connect', 'every way to get it wrong has its sentence and its exit code'],
  },
  enroll: {
    done: ['cli-enroll', 'with a certificate of the CA becomes a login with it'],
    mistaken: ['cli-enroll', 'names a token that is not valid, and does not repeat it'],
  },
  password: both('cli-account', 'a user who knows the current password changes it'),
  'mfa status': ACCOUNT,
  'mfa enable': ACCOUNT,
  'mfa disable': ACCOUNT,
  'mfa recovery-codes': ACCOUNT,
  'context list': {
    done: ['cli-sessions', 'are several logins side by side; the last one is the current one'],
    mistaken: ['cli-sessions', 'whose file cannot be read are not treated as missing'],
  },
  'context use': {
    done: ['cli-sessions', 'one is made the current one by its name'],
    mistaken: ['cli-sessions', 'an unknown name is exit code 64, and the known ones are listed'],
  },
  'context remove': {
    done: ['cli-sessions', 'one that is removed takes its credentials along'],
    mistaken: ['cli-sessions', 'an unknown name is exit code 64, and the known ones are listed'],
  },
  completion: {
    done: ['cli-completion', 'bash completes commands, options, files and contexts'],
    mistaken: ['cli-completion', 'completion for an unknown shell is exit code 64'],
  },
  'completion names': {
    done: [
      'cli-entities',
      'D-354: names come from the server, and nothing at all if it cannot be asked',
    ],
    mistaken: [
      'cli-entities',
      'D-354: names come from the server, and nothing at all if it cannot be asked',
    ],
  },

  overview: both(CHECKS, 'the overview counts, and what expires is listed with its exit code'),
  expiry: both(CHECKS, 'the overview counts, and what expires is listed with its exit code'),
  'policy what-if': both(CHECKS, 'a change of a policy is previewed, and nothing changes'),
  'reset password': both(ADMIN, 'a reset prints a link and changes nothing yet'),
  'reset mfa': both(ADMIN, 'a reset prints a link and changes nothing yet'),

  'list identities': { done: MADE, mistaken: FILTER },
  'list authenticators': { done: NOBODY, mistaken: FILTER },
  'list policies': { done: [ENTITIES, 'a policy is listed and deleted'], mistaken: FILTER },
  'list signers': { done: SIGNER, mistaken: FILTER },
  'list cas': { done: [ENTITIES, 'a CA is listed and deleted'], mistaken: FILTER },
  'list enrollments': { done: INVITED, mistaken: FILTER },
  'list sessions': {
    done: [ADMIN, 'what fits several is refused, and all that fit are named'],
    mistaken: FILTER,
  },
  'get identity': { done: MADE, mistaken: NOBODY },
  'get authenticator': { done: NOBODY, mistaken: NOBODY },
  'get policy': { done: POLICY, mistaken: NOBODY },
  'get signer': { done: SIGNER, mistaken: SIGNER },
  'get ca': { done: CA, mistaken: NOBODY },
  'get enrollment': { done: ENROLLMENT, mistaken: NOBODY },
  'get session': {
    done: [ENTITIES, 'shows the session of an identity that has one'],
    mistaken: NOBODY,
  },
  'create identity': { done: MADE, mistaken: NOTHING },
  'create authenticator': { done: PASSWORD, mistaken: PASSWORD },
  'create policy': { done: POLICY, mistaken: [ENTITIES, 'a policy is listed and deleted'] },
  'create signer': { done: POLICY, mistaken: SIGNER },
  'create ca': { done: CA, mistaken: CA },
  'create enrollment': { done: ENROLLMENT, mistaken: ENROLLMENT },
  'update identity': { done: MADE, mistaken: NOTHING },
  'update authenticator': { done: PASSWORD, mistaken: NOTHING },
  'update policy': { done: POLICY, mistaken: NOTHING },
  'update signer': { done: SIGNER, mistaken: NOTHING },
  'update ca': { done: CA, mistaken: NOTHING },
  'update enrollment': { done: INVITED, mistaken: ENROLLMENT },
  'delete identity': { done: MADE, mistaken: NOTHING },
  'delete authenticator': { done: GONE, mistaken: GONE },
  'delete policy': { done: [ENTITIES, 'a policy is listed and deleted'], mistaken: NOTHING },
  'delete signer': { done: SIGNER, mistaken: GONE },
  'delete ca': { done: [ENTITIES, 'a CA is listed and deleted'], mistaken: GONE },
  'delete enrollment': { done: INVITED, mistaken: GONE },
  'delete session': {
    done: [ADMIN, 'what fits several is refused, and all that fit are named'],
    mistaken: [ENTITIES, 'shows the session of an identity that has one'],
  },

  'describe identity': both(
    ACTIONS,
    'describe shows an identity with its credentials, sessions and events',
  ),
  'describe session': both(
    CHECKS,
    'D-381: an end waits for its confirmations, and a session has a ledger',
  ),
  'create router': both(
    ACTIONS,
    'a router is made with its hosts, and its token is printed or in a file of its own',
  ),
  'list routers': {
    done: [
      ACTIONS,
      'a router is made with its hosts, and its token is printed or in a file of its own',
    ],
    mistaken: LOGGED_OUT,
  },
  'disable identity': both(ACTIONS, 'an identity is disabled for some minutes, and enabled'),
  'enable identity': both(ACTIONS, 'an identity is disabled for some minutes, and enabled'),
  unlock: both(ACTIONS, 'a locked password is unlocked by username or by identity'),
  're-enroll': both(
    ADMIN,
    'a credential makes way for an invitation, and its name stands for that',
  ),
  'mfa remove': both(ACTIONS, 'TOTP is removed where there is some'),
  'passkeys list': both(ACTIONS, 'passkeys are listed, and one is removed'),
  'passkeys remove': both(ACTIONS, 'passkeys are listed, and one is removed'),
  'sessions end-all': both(CHECKS, 'ends all sessions of one identity, and of no other by mistake'),
  'signer check': both(CHECKS, 'a JWT is tried against a signer, step by step'),
  'ca verify': both(CHECKS, 'a CA is verified by a certificate with its token'),
  'ca token': both(CHECKS, 'a CA is verified by a certificate with its token'),
  'ca jwt': both(CHECKS, 'the JWT of a CA is for those that enroll by themselves'),
  'keys list': {
    done: [CHECKS, 'D-168: keys rotate over the API where no home is'],
    mistaken: LOGGED_OUT,
  },
  events: both(ACTIONS, 'events are those of an identity, a type and a request'),
  explain: both(ACTIONS, 'explain says what was wrong with a request, and what to do'),

  run: {
    done: ['first-start', 'nothing says ready before it answers'],
    mistaken: [
      'impossible-homes',
      'refuses a home that cannot be created or used with one sentence',
    ],
  },
  demo: {
    done: ['demo', 'every line that the demo prints does what is said beside it'],
    mistaken: ['demo', 'a port that is taken is refused, and leaves nothing'],
  },
  'fake-server': {
    done: ['guide-testing-clients', 'the lines of docs/testing-clients.md do what they say'],
    mistaken: [
      'guide-testing-clients',
      'a scenario that does not exist is refused, and nothing starts',
    ],
  },
  init: {
    done: ['first-start', 'init prepares everything and starts nothing'],
    mistaken: [
      'command-line',
      'an address that clients cannot connect to is refused before anything is created',
    ],
  },
  'config check': {
    done: ['command-line', 'says that a new file is good, with exit code 0'],
    mistaken: ['command-line', 'prints every problem at once, with exit code 78'],
  },
  'keys rotate': {
    done: ['keys-rotate', 'a rotated key is published by a running service before it signs'],
    mistaken: ['keys-rotate', 'where nothing is installed, keys rotate says so and makes nothing'],
  },
  trust: {
    done: ['trust', 'adds the CA of a home to a browser'],
    mistaken: ['trust', 'names a CA that cannot be read, and a home without one'],
  },
  'secret rotate': {
    done: [
      'secret-rotate',
      'of two rotations at once one is made, the other says so, and the home starts',
    ],
    mistaken: [
      'secret-rotate',
      'where nothing is installed, or the secret cannot be written, nothing changes',
    ],
  },
  'admin recover': {
    done: [
      'admin-recover',
      'with a default policy that forbids passwords the way back in is a policy of its own, and a login follows',
    ],
    mistaken: [
      'admin-recover',
      'where nothing is installed, or an option is wrong, nothing is made',
    ],
  },
  backup: {
    done: [
      'backup',
      'on a terminal the passphrase is asked for twice and never shown; a restore asks for it once',
    ],
    mistaken: ['backup', 'where it cannot be taken or written, the command says why'],
  },
  restore: {
    done: [
      'restore-files',
      'a secret in the backup comes back with its passphrase, and with no other',
    ],
    mistaken: [
      'restore-files',
      'what the command line does not understand is refused with 64, and nothing is made',
    ],
  },
  'migrate-store': {
    done: [
      'migrate-store',
      'from SQLite to PostgreSQL and back, everything that users hold stays valid, and what was spent stays spent (R042)',
    ],
    mistaken: [
      'migrate-store',
      'a target with an installation, a source without one and anything that is not a database are refused, and nothing changes',
    ],
  },
  gateway: {
    done: [
      'gateway',
      'a gateway beside a service: it lets a session through, and a logout closes its WebSocket',
    ],
    mistaken: ['gateway', 'what the gateway cannot be started with is named, with exit code 64'],
  },
}
