/**
 * Every word that a person reads on the login pages. Programs get the sentences of the error catalogue;
 * these say the same to somebody who has never heard of a redirect_uri.
 */

export const LANGUAGE = 'en'

export const SIGN_IN = {
  title: 'Sign in',
  username: 'Username',
  password: 'Password',
  submit: 'Sign in',
} as const

export const FORM_POST = {
  title: 'One moment',
  message: 'You are on your way back to the application. If nothing happens, press Continue.',
  submit: 'Continue',
} as const

export const REQUEST_ID = 'Request ID'

export interface ErrorText {
  readonly title: string
  readonly message: string
}

const START_AGAIN = 'Go back to the application and sign in again.'
const ASK_THE_APPLICATION =
  'The application asked for something that is not allowed here. Tell the people who run it.'

const ERRORS: Readonly<Record<string, ErrorText>> = {
  // D-12: one wording, whatever the reason.
  INVALID_AUTH: {
    title: 'Not signed in',
    message: 'That username and password do not match. Try again.',
  },
  INVALID_AUTH_REQUEST: {
    title: 'This sign-in has ended',
    message: `It took too long, is already finished, or was begun in another browser. ${START_AGAIN}`,
  },
  INVALID_CLIENT: { title: 'Unknown application', message: ASK_THE_APPLICATION },
  INVALID_REDIRECT_URI: { title: 'No way back', message: ASK_THE_APPLICATION },
  NOT_FOUND: { title: 'Nothing here', message: 'There is no page at this address.' },
  SERVER_TOO_BUSY: {
    title: 'Very busy right now',
    message: 'Many people are signing in at this moment. Try again in a few seconds.',
  },
  NOT_READY: {
    title: 'Not available right now',
    message: 'The service is catching up. Try again in a few seconds.',
  },
}

const ANY_ERROR: ErrorText = { title: 'Something went wrong', message: START_AGAIN }

/** What a person is told about a failure of this code. Every code has an answer, if only a general one. */
export function errorText(code: string): ErrorText {
  return Object.hasOwn(ERRORS, code) ? (ERRORS[code] ?? ANY_ERROR) : ANY_ERROR
}
