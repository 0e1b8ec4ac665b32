/** All texts of the account pages. Short, and in the user's words, not the protocol's. */

export const ACCOUNT = {
  title: 'Your account',
  pages: 'Account pages',
  skip: 'Skip to content',
  signOut: 'Sign out',
} as const

/** The pages in the order of the menu. */
export const TITLES = {
  overview: 'Overview',
  sessions: 'Sessions',
  password: 'Password',
  totp: 'Authenticator app',
  certificates: 'Certificate',
} as const

export const OVERVIEW = {
  signedInAs: 'Signed in as',
  sessions: (count: number) =>
    count === 1 ? 'You are signed in here and nowhere else.' : `You have ${count} open sessions.`,
  password: {
    set: 'You have a password.',
    none: 'You have no password.',
  },
  totp: {
    on: (left: number) =>
      left === 0
        ? 'On, but no recovery codes are left. Create new ones.'
        : `On. Recovery codes left: ${left}.`,
    off: 'Off. With an app, your password alone is not enough to sign in.',
  },
  certificates: {
    until: 'Valid until',
    over: 'Expired on',
    none: 'You have no certificate.',
  },
} as const

export const SESSIONS = {
  message:
    'Everything that is signed in with your account. Sign out any session you do not recognize.',
  current: 'This browser',
  unknown: 'Unknown program',
  program: (browser: string, system: string) => `${browser} on ${system}`,
  userAgent: 'User agent',
  address: 'Address',
  created: 'Signed in',
  lastActivity: 'Last used',
  expires: 'Ends',
  end: 'Sign out',
  endLabel: (what: string, address: string, since: string) =>
    `Sign out the session of ${what} from ${address}, signed in ${since}`,
  endOthers: 'Sign out all other sessions',
  noOthers: 'There are no other sessions.',
  gone: 'That session has already ended. The remaining sessions are below.',
  more: (count: number) =>
    `${count} older sessions are not shown. Signing out all others includes them.`,
} as const

export const CONFIRM = {
  title: 'Confirm that it is you',
  message: 'You signed in a while ago. To make changes here, sign in again.',
  submit: 'Sign in again',
} as const

export const PASSWORD = {
  message: 'When you change it, you are signed out everywhere else.',
  none: 'Your account has no password. You sign in with a certificate or with an account from another provider.',
  current: 'Current password',
  next: 'New password',
  rule: (shortest: number) => `At least ${shortest} characters. Longer is better.`,
  repeated: 'Confirm new password',
  submit: 'Change password',
  wrong: 'The current password is incorrect, or there were too many failed attempts.',
  different: 'The new passwords do not match.',
  same: 'The new password is the same as the current one. Choose another.',
  missing: 'Fill in all three fields.',
  refused: (reason: string) => `The new password ${reason}.`,
} as const

export const TOTP = {
  off: 'With an authenticator app, signing in also asks for a code from your phone.',
  apps: 'Any authenticator app will do. If you have none, install one first.',
  start: 'Set up an app',
  on: 'Your account asks for a code from your authenticator app at every sign-in.',
  recovery: {
    title: 'Recovery codes',
    left: (count: number) =>
      count === 0
        ? 'You have none left. Create new ones: without them, you cannot sign in if you lose your phone.'
        : `You have ${count} left. If you lose your phone, each lets you sign in once. When you create new ones, these stop working.`,
    renew: 'Create new recovery codes',
    fresh: 'Your new recovery codes',
    save: 'The old ones no longer work. These are not shown again: copy them or print this page, and keep them in a safe place.',
    done: 'I have saved them',
  },
  remove: {
    title: 'Remove the app',
    hint: 'Signing in then no longer asks for a code.',
    demanded: 'Your account requires an app: you set up another one at the next sign-in.',
    submit: 'Remove the app',
  },
  code: 'Code from the app, or a recovery code',
  wrong: 'That code is incorrect. Wait for the next one and try again.',
  enroll: 'Set up your app',
  prove: {
    title: 'Enter a code',
    message: 'Enter the six-digit code that the app shows for this account.',
    code: 'Code',
    submit: 'Finish',
  },
  cancel: 'Not now',
} as const

export const CERTIFICATES = {
  message: 'Programs and browsers can sign in with this certificate and its key.',
  none: 'Your account has no certificate. If you need one, ask an administrator.',
  fingerprint: 'Fingerprint (SHA-256)',
  from: 'Valid from',
  until: 'Valid until',
  by: 'Issued by',
  network: 'this service',
  others: 'another authority',
  expired: 'Expired',
  renewing: 'A renewal is in progress. Until the program has confirmed it, both certificates work.',
  renewal: 'New fingerprint (SHA-256)',
  programs: 'The program that holds the key renews the certificate.',
  elsewhere: 'It is renewed where it was issued.',
} as const

/** The messages after a change. A cookie carries the key; unknown keys show nothing. */
export const NOTES = {
  confirmed: 'Thank you. You can make changes for the next five minutes.',
  'confirm-first': 'Nothing was changed. Confirm that it is you, then try again.',
  'session-ended': 'That session was signed out.',
  'sessions-ended': 'All other sessions were signed out.',
  'password-changed': 'Your password was changed. You are signed out everywhere else.',
  'app-on': 'Your app is set up. The next sign-in asks for a code.',
  'app-off': 'The app was removed. Signing in no longer asks for a code.',
  'app-exists': 'You already have an app. To use another one, remove it first.',
  'app-again': 'That took too long, or the setup was started again elsewhere. Start again.',
  'signed-in-again': 'You were signed out in the meantime, so nothing was changed.',
} as const
export type Note = keyof typeof NOTES

export const SIGNED_OUT = {
  title: 'Signed out',
  message: 'You can close this window.',
  again: 'Sign in again',
} as const

export const BLOCKED = {
  title: 'Not available for your account',
  message:
    'Your account needs a confirmation from an identity provider with every request, which a browser cannot send. Ask an administrator to make the change, or use a program that can.',
} as const

export interface MessageText {
  readonly title: string
  readonly message: string
}

const MESSAGES: Readonly<Record<string, MessageText>> = {
  INVALID_AUTH_REQUEST: {
    title: 'Not signed in',
    message: 'This sign-in took too long, is already complete, or was started in another browser.',
  },
  INVALID_GRANT: {
    title: 'Not signed in',
    message: 'This sign-in could not be completed. Try again.',
  },
  FORBIDDEN: {
    title: 'Nothing was changed',
    message:
      'The form was out of date, or did not come from this page. Open the page and try again.',
  },
  NOT_FOUND: {
    title: 'Page not found',
    message: 'This does not exist in your account, or no longer does.',
  },
  RATE_LIMITED: {
    title: 'Too many attempts',
    message:
      'Too many failed attempts. Wait a while, then try again, or contact your administrator.',
  },
  SERVER_TOO_BUSY: {
    title: 'Very busy right now',
    message: 'Many people are signing in at this moment. Try again in a few seconds.',
  },
  NOT_READY: {
    title: 'Not available right now',
    message: 'The service is catching up. Try again in a few seconds.',
  },
}

const ANY_MESSAGE: MessageText = {
  title: 'Nothing was changed',
  message: 'The form was not filled in correctly. Open the page and try again.',
}

/** Returns the text for a failure of this code; unknown codes get a general one. */
export function messageText(code: string): MessageText {
  return Object.hasOwn(MESSAGES, code) ? (MESSAGES[code] ?? ANY_MESSAGE) : ANY_MESSAGE
}

export const BACK = 'Back to your account'
export const REQUEST_ID = 'Request ID'
