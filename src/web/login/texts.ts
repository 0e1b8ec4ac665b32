/**
 * All texts of the login pages. Programs get the sentences of the error catalogue; these say the same to users, without
 * terms such as redirect_uri.
 */

export const LANGUAGE = 'en'

/** Returns the title of the tab, which screen readers announce first. */
export function titleOf(heading: string, error: string | undefined): string {
  return error === undefined ? heading : `Error: ${heading}`
}

export const SIGN_IN = {
  title: 'Sign in',
  username: 'Username',
  password: 'Password',
  submit: 'Sign in',
  // R077: the same text for every name, whether it exists or not, and whether it is locked or not.
  severalFailures:
    'That username and password do not match. Several attempts have failed: wait a while before you try again, or contact your administrator.',
} as const

export const TOTP = {
  title: 'Enter your code',
  message: 'Enter the code that your authenticator app shows for this account.',
  code: 'Code',
  submit: 'Continue',
  recovery: 'No access to your phone? Use one of your recovery codes. Each works once.',
} as const

export const ENROLL_START = {
  title: 'One more step',
  message:
    'To sign in, you also need a code from an authenticator app on your phone. Setting it up takes a minute.',
  submit: 'Set up the app',
  apps: 'Any authenticator app will do. If you have none, install one first.',
} as const

export const ENROLL = {
  title: 'Set up your app',
  scan: {
    title: 'Scan the QR code',
    message: 'Add an account in your authenticator app, then scan this code.',
    picture: 'QR code for your authenticator app',
    tooLong: 'Add an account in your authenticator app with this link or key.',
    open: 'Open in an app on this device',
    type: 'Enter a key instead',
    key: 'Enter this key in the app and choose time-based codes.',
  },
  save: {
    title: 'Save your recovery codes',
    of: 'Recovery codes for',
    message:
      'If you lose your phone, each code lets you sign in once. They are not shown again: copy them or print this page, and keep them in a safe place.',
  },
  prove: {
    title: 'Enter a code',
    message: 'Enter the six-digit code that the app shows for this account.',
    code: 'Code',
    submit: 'Finish',
  },
  unsaved: 'Did you save your recovery codes? If not, you get new ones when you',
  again: 'start over',
} as const

export const CERTIFICATE = {
  title: 'Sign in with a certificate',
  message: 'Your browser has a certificate. Use it to sign in without a password.',
  submit: 'Use my certificate',
  missing:
    'Your browser did not send a certificate. If you have one, close the browser, open it again and choose the certificate when asked.',
  // D-12: one wording, whatever the reason.
  refused: 'This certificate cannot be used to sign in here.',
} as const

export const EXT_JWT = {
  title: 'Choose how to sign in',
  choose: 'Sign in with an account from another provider. You return here afterwards.',
  continue: 'Continue with',
  more: 'More ways to sign in',
  message:
    'This sign-in needs a confirmation from an identity provider, which the application gets for you. These providers are accepted:',
  none: 'This sign-in needs a confirmation from an identity provider, and none is set up here.',
  failed: 'The identity provider did not sign you in. Try again, or sign in another way.',
  // D-12: one wording, whatever the reason.
  refused: 'That account cannot be used to sign in here. Try another one.',
  unavailable: 'That identity provider is not responding. Try again in a minute.',
  tooMany: 'Too many failed attempts. Wait a minute, then try again.',
} as const

export const SECOND_PROOF = {
  title: 'One more sign-in',
  message: 'An identity provider must also confirm your account. You return here afterwards.',
  otherAccount: 'That account does not belong to your account here. Try again with the right one.',
} as const

export const OR = 'or'

export const PASSWORD_INSTEAD = 'Use a password instead'

export const FORM_POST = {
  title: 'One moment',
  message: 'Returning to the application. If nothing happens, press Continue.',
  submit: 'Continue',
} as const

export const SIGN_OUT = {
  title: 'Sign out?',
  signedInAs: 'In this browser you are signed in to your account as',
  submit: 'Sign out',
  stay: 'Stay signed in',
  others: 'Applications and your other devices stay signed in.',
} as const

export const NOT_SIGNED_IN = {
  title: 'You are not signed in',
  message: 'There is no session in this browser to sign out of. You can close this window.',
  others: 'Applications may still be signed in. Sign out there to end their sessions.',
} as const

export const SIGNED_OUT = {
  title: 'Signed out',
  message: 'You can close this window.',
} as const

export const REQUEST_ID = 'Request ID'

export interface ErrorText {
  readonly title: string
  readonly message: string
}

const START_AGAIN = 'Go back to the application and sign in again.'
const ASK_THE_APPLICATION =
  'The application made a request that is not allowed here. Contact its operator.'

const ERRORS: Readonly<Record<string, ErrorText>> = {
  // D-12: one wording, whatever the reason.
  INVALID_AUTH: {
    title: 'Not signed in',
    message: 'That username and password do not match. Try again.',
  },
  INVALID_AUTH_REQUEST: {
    title: 'This sign-in has ended',
    message: `It took too long, is already complete, or was started in another browser. ${START_AGAIN}`,
  },
  INVALID_CLIENT: { title: 'Unknown application', message: ASK_THE_APPLICATION },
  INVALID_REDIRECT_URI: { title: 'Invalid return address', message: ASK_THE_APPLICATION },
  INVALID_POST_LOGOUT_URI: { title: 'Not signed out', message: ASK_THE_APPLICATION },
  INVALID_ID_TOKEN_HINT: { title: 'Not signed out', message: ASK_THE_APPLICATION },
  UNAUTHORIZED: {
    title: 'Confirmation missing',
    message: `The application must send a valid confirmation from an identity provider. ${START_AGAIN}`,
  },
  // R085: a code that was already used is wrong like any other.
  MFA_INVALID_TOKEN: {
    title: 'Incorrect code',
    message: 'That code is incorrect. Wait for the next one and try again.',
  },
  MFA_EXISTS: {
    title: 'Already set up',
    message: `This account already has an authenticator app. ${START_AGAIN}`,
  },
  MFA_ENROLLMENT_NOT_STARTED: {
    title: 'Setup not started',
    message: `The setup of this app has not started, or was started again elsewhere. ${START_AGAIN}`,
  },
  RATE_LIMITED: {
    title: 'Too many attempts',
    message:
      'Too many failed attempts. Wait a while, then try again, or contact your administrator.',
  },
  FORBIDDEN: {
    title: 'Nothing was changed',
    message: 'The form was out of date, or did not come from this page. Go back and try again.',
  },
  NOT_FOUND: { title: 'Page not found', message: 'There is no page at this address.' },
  SERVER_TOO_BUSY: {
    title: 'Very busy right now',
    message: 'Many people are signing in at this moment. Try again in a few seconds.',
  },
  IDP_UNAVAILABLE: {
    title: 'Not available right now',
    message: 'The identity provider is not responding. Try again in a minute.',
  },
  NOT_READY: {
    title: 'Not available right now',
    message: 'The service is catching up. Try again in a few seconds.',
  },
}

const ANY_ERROR: ErrorText = { title: 'Something went wrong', message: START_AGAIN }

/** Returns the text for a failure of this code; unknown codes get a general one. */
export function errorText(code: string): ErrorText {
  return Object.hasOwn(ERRORS, code) ? (ERRORS[code] ?? ANY_ERROR) : ANY_ERROR
}
