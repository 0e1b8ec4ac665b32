/** Every word that a person reads on the pages of the own account. Short, and about the person, not the protocol. */

export const ACCOUNT = {
  title: 'Your account',
  pages: 'Pages of your account',
  skip: 'Skip to the content',
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
        ? 'On, but no recovery codes are left. Make new ones.'
        : `On. Recovery codes left: ${left}.`,
    off: 'Off. With an app, your password alone gets nobody in.',
  },
  certificates: {
    until: 'Valid until',
    over: 'Expired on',
    none: 'You have no certificate.',
  },
} as const

export const SESSIONS = {
  message: 'Everything that is signed in with your account. End what you do not know.',
  current: 'This browser',
  unknown: 'Unknown program',
  program: (browser: string, system: string) => `${browser} on ${system}`,
  userAgent: 'Calls itself',
  address: 'Address',
  created: 'Signed in',
  lastActivity: 'Last used',
  expires: 'Ends',
  end: 'End',
  endLabel: (what: string, address: string, since: string) =>
    `End the session of ${what} from ${address}, signed in ${since}`,
  endOthers: 'End all other sessions',
  noOthers: 'There are no others.',
  gone: 'That session is not there any more. What is left is below.',
  more: (count: number) => `${count} older ones are not shown. Ending all others ends them too.`,
} as const

export const CONFIRM = {
  title: 'Confirm that it is you',
  message: 'You signed in a while ago. To change something here, sign in once more.',
  submit: 'Sign in again',
} as const

export const PASSWORD = {
  message: 'When you change it, you are signed out everywhere but here.',
  none: 'Your account has no password. You sign in with a certificate or with an account that you have elsewhere.',
  current: 'Present password',
  next: 'New password',
  rule: (shortest: number) => `At least ${shortest} characters. Longer is better.`,
  repeated: 'New password, once more',
  submit: 'Change the password',
  wrong: 'That is not your present password, or too many wrong ones were tried.',
  different: 'The two new passwords are not the same.',
  same: 'The new password is the present one. Choose another.',
  missing: 'Fill in all three fields.',
  refused: (reason: string) => `The new password ${reason}.`,
} as const

export const TOTP = {
  off: 'With an authenticator app, signing in asks for a code from your phone besides what you use now.',
  apps: 'Any authenticator app will do. If you have none, install one first.',
  start: 'Set up an app',
  on: 'Your account asks for a code from your authenticator app at every sign-in.',
  recovery: {
    title: 'Recovery codes',
    left: (count: number) =>
      count === 0
        ? 'You have none left. Make new ones: without them a lost phone locks you out.'
        : `You have ${count} left. Each gets you in once when your phone is not there. When you make new ones, these stop working.`,
    renew: 'Make new recovery codes',
    fresh: 'Your new recovery codes',
    save: 'The old ones no longer work. These are not shown again: copy them, or print this page, and keep them in a safe place.',
    done: 'I have saved them',
  },
  remove: {
    title: 'Remove the app',
    hint: 'Signing in then no longer asks for a code.',
    demanded: 'Your account needs an app: at the next sign-in you set up another one.',
    submit: 'Remove the app',
  },
  code: 'Code from the app, or a recovery code',
  wrong: 'That code is not right. Wait for the next one and try again.',
  enroll: 'Set up your app',
  prove: {
    title: 'Enter a code',
    message: 'Type the six digits that the app shows for this account now.',
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
  renewing: 'A renewal is under way. Until the program has confirmed it, both certificates work.',
  renewal: 'New fingerprint (SHA-256)',
  programs: 'A certificate is renewed by the program that holds its key, not here.',
  elsewhere: 'It is renewed where it was issued.',
} as const

/** What a page says after a change. The keys travel in a cookie; anything else says nothing. */
export const NOTES = {
  confirmed: 'Thank you. You can make changes for the next five minutes.',
  'confirm-first': 'Nothing was changed. Confirm that it is you, then try again.',
  'session-ended': 'That session has ended.',
  'sessions-ended': 'All other sessions have ended.',
  'password-changed': 'Your password is changed. You are signed out everywhere but here.',
  'app-on': 'Your app is set up. The next sign-in asks for a code.',
  'app-off': 'The app is removed. Signing in no longer asks for a code.',
  'app-exists': 'You have an app already. To use another one, remove it first.',
  'app-again': 'That took too long, or the setup was begun again elsewhere. Begin once more.',
  'signed-in-again': 'You had been signed out meanwhile, so nothing was changed.',
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
    'Your account needs a proof from an identity provider with every request, and a browser cannot send one here. Ask an administrator to make the change, or use a program that can.',
} as const

export interface MessageText {
  readonly title: string
  readonly message: string
}

const MESSAGES: Readonly<Record<string, MessageText>> = {
  INVALID_AUTH_REQUEST: {
    title: 'Not signed in',
    message: 'This sign-in took too long, is already finished, or was begun in another browser.',
  },
  INVALID_GRANT: {
    title: 'Not signed in',
    message: 'This sign-in could not be finished. Try once more.',
  },
  FORBIDDEN: {
    title: 'Nothing was changed',
    message:
      'The form was out of date, or did not come from this page. Open the page and try again.',
  },
  NOT_FOUND: {
    title: 'Nothing here',
    message: 'There is no such thing in your account, or not any more.',
  },
  RATE_LIMITED: {
    title: 'Too many tries',
    message:
      'There were too many wrong tries. Wait a little, then try again, or contact your administrator.',
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
  message: 'The form was not filled in as it should be. Open the page and try again.',
}

/** What a person is told about a failure of this code. Every code has an answer, if only a general one. */
export function messageText(code: string): MessageText {
  return Object.hasOwn(MESSAGES, code) ? (MESSAGES[code] ?? ANY_MESSAGE) : ANY_MESSAGE
}

export const BACK = 'To your account'
export const REQUEST_ID = 'Request ID'
