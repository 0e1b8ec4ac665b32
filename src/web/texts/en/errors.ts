/** What went wrong, by the code of the failure. Without terms such as redirect_uri, which mean nothing to users. */
export const ERRORS = {
  // D-12: one wording, whatever the reason.
  'error.INVALID_AUTH.title': 'Not signed in',
  'error.INVALID_AUTH.message': 'That username and password do not match. Try again.',
  'error.INVALID_AUTH_REQUEST.title': 'This sign-in has ended',
  'error.INVALID_AUTH_REQUEST.message':
    'It took too long, is already complete, or was started in another browser. Go back to the application and sign in again.',
  'error.INVALID_CLIENT.title': 'Unknown application',
  'error.INVALID_CLIENT.message':
    'The application made a request that is not allowed here. Contact its operator.',
  'error.INVALID_REDIRECT_URI.title': 'Invalid return address',
  'error.INVALID_REDIRECT_URI.message':
    'The application made a request that is not allowed here. Contact its operator.',
  'error.INVALID_POST_LOGOUT_URI.title': 'Not signed out',
  'error.INVALID_POST_LOGOUT_URI.message':
    'The application made a request that is not allowed here. Contact its operator.',
  'error.INVALID_ID_TOKEN_HINT.title': 'Not signed out',
  'error.INVALID_ID_TOKEN_HINT.message':
    'The application made a request that is not allowed here. Contact its operator.',
  'error.UNAUTHORIZED.title': 'Confirmation missing',
  'error.UNAUTHORIZED.message':
    'The application must send a valid confirmation from an identity provider. Go back to the application and sign in again.',
  // R085: a code that was already used is wrong like any other.
  'error.MFA_INVALID_TOKEN.title': 'Incorrect code',
  'error.MFA_INVALID_TOKEN.message': 'That code is incorrect. Wait for the next one and try again.',
  'error.MFA_EXISTS.title': 'Already set up',
  'error.MFA_EXISTS.message':
    'This account already has an authenticator app. Go back to the application and sign in again.',
  'error.MFA_ENROLLMENT_NOT_STARTED.title': 'Setup not started',
  'error.MFA_ENROLLMENT_NOT_STARTED.message':
    'The setup of this app has not started, or was started again elsewhere. Go back to the application and sign in again.',
  'error.RATE_LIMITED.title': 'Too many attempts',
  'error.RATE_LIMITED.message':
    'Too many failed attempts. Wait a while, then try again, or contact your administrator.',
  'error.FORBIDDEN.title': 'Nothing was changed',
  'error.FORBIDDEN.message':
    'The form was out of date, or did not come from this page. Go back and try again.',
  'error.NOT_FOUND.title': 'Page not found',
  'error.NOT_FOUND.message': 'There is no page at this address.',
  'error.SERVER_TOO_BUSY.title': 'Very busy right now',
  'error.SERVER_TOO_BUSY.message':
    'Many people are signing in at this moment. Try again in a few seconds.',
  'error.IDP_UNAVAILABLE.title': 'Not available right now',
  'error.IDP_UNAVAILABLE.message':
    'The identity provider is not responding. Try again in a minute.',
  'error.NOT_READY.title': 'Not available right now',
  'error.NOT_READY.message': 'The service is catching up. Try again in a few seconds.',
  'error.METHOD_NOT_ALLOWED.title': 'Not a page',
  'error.METHOD_NOT_ALLOWED.message': 'This address is for programs, and shows no page.',
  'error.BAD_REQUEST.title': 'Invalid address',
  'error.BAD_REQUEST.message': 'The service cannot read this address. Check it, and try again.',
  'error.MISDIRECTED_REQUEST.title': 'Unknown address',
  'error.MISDIRECTED_REQUEST.message':
    'The service does not answer under this name. Use the address that its operator gave you.',
  'errorPage.start': 'Go to the start page',
  'error.other.title': 'Something went wrong',
  'error.other.message': 'Go back to the application and sign in again.',

  'accountError.INVALID_AUTH_REQUEST.title': 'Not signed in',
  'accountError.INVALID_AUTH_REQUEST.message':
    'This sign-in took too long, is already complete, or was started in another browser.',
  'accountError.INVALID_GRANT.title': 'Not signed in',
  'accountError.INVALID_GRANT.message': 'This sign-in could not be completed. Try again.',
  'accountError.FORBIDDEN.title': 'Nothing was changed',
  'accountError.FORBIDDEN.message':
    'The form was out of date, or did not come from this page. Open the page and try again.',
  'accountError.NOT_FOUND.title': 'Page not found',
  'accountError.NOT_FOUND.message': 'This does not exist in your account, or no longer does.',
  'accountError.other.title': 'Nothing was changed',
  'accountError.other.message':
    'The form was not filled in correctly. Open the page and try again.',
} as const
