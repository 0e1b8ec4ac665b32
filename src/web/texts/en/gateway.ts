/** The pages of the gateway, which stands in front of applications. */
export const GATEWAY = {
  'gateway.noAccess.title': 'You have no access',
  'gateway.noAccess.message':
    'You are signed in, but your account may not open this address. If you need it, contact your administrator.',
  'gateway.noAccess.signOut': 'Use another account',
  'gateway.again.title': 'Sign in again',
  'gateway.again.old': 'You signed in too long ago for this address.',
  'gateway.again.weak': 'This address needs one more proof of who you are, such as a code.',
  'gateway.again.submit': 'Sign in again',
  'gateway.notHere.title': 'This does not work in a browser',
  'gateway.notHere.message':
    'Your account needs a certificate or a confirmation with every request, and a browser cannot send it to this address. Use a program that can, or contact your administrator.',
  'gateway.signInFailed.title': 'You are not signed in',
  'gateway.signInFailed.message':
    'Signing in took too long, was started in another browser, or is already complete.',
  'gateway.signInRefused.message': 'The sign-in was refused or canceled.',
  'gateway.unavailable.title': 'Try again in a moment',
  'gateway.unavailable.message': 'The sign-in service cannot be reached at the moment.',
  'gateway.unreachable.title': 'The application is not responding',
  'gateway.unreachable.message':
    'Try again in a moment. If that does not help, contact your administrator.',
  'gateway.tryAgain': 'Try again',
  'gateway.blocked.title': 'Request blocked',
  'gateway.blocked.message':
    'Another site may have sent this request in your name. Open the application and try again there.',
  'gateway.refused.title': 'This did not work',
  'gateway.refused.message': 'The request cannot be answered.',
  'gateway.nothing.title': 'There is nothing here',
  'gateway.nothing.message': 'No application is available at this address.',
  'gateway.toStart': 'Go to the start page',
  'gateway.signOut.message': 'You are signed in to {host} as {name}.',
  'gateway.signedOut.message': 'You are signed out of {host}.',
} as const
