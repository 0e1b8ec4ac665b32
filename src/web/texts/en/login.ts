/** The frame of every page, signing in and signing out. */
export const LOGIN = {
  'language.label': 'Language',
  'foot.support': 'Get help',
  'title.error': 'Error: {title}',
  'title.account': '{title} – Your account',
  'requestId.label': 'Request ID',

  'signIn.title': 'Sign in',
  'signIn.username': 'Username',
  'signIn.password': 'Password',
  'signIn.submit': 'Sign in',
  'signIn.or': 'or',
  'signIn.passwordInstead': 'Use a password instead',
  // R077: the same text for every name, whether it exists or not, and whether it is locked or not.
  'signIn.severalFailures':
    'That username and password do not match. Several attempts have failed: wait a while before you try again, or contact your administrator.',

  'code.title': 'Enter your code',
  'code.message': 'Enter the code that your authenticator app shows for this account.',
  'code.label': 'Code',
  'code.submit': 'Continue',
  'code.recovery': 'No access to your phone? Use one of your recovery codes. Each works once.',

  'enrollStart.title': 'One more step',
  'enrollStart.message':
    'To sign in, you also need a code from an authenticator app on your phone. Setting it up takes a minute.',
  'enrollStart.submit': 'Set up the app',

  'enroll.title': 'Set up your app',
  'enroll.apps': 'Any authenticator app will do. If you have none, install one first.',
  'enroll.scan.title': 'Scan the QR code',
  'enroll.scan.message': 'Add an account in your authenticator app, then scan this code.',
  'enroll.scan.picture': 'QR code for your authenticator app',
  'enroll.scan.tooLong': 'Add an account in your authenticator app with this link or key.',
  'enroll.scan.open': 'Open in an app on this device',
  'enroll.scan.type': 'Enter a key instead',
  'enroll.scan.key': 'Enter this key in the app and choose time-based codes.',
  'enroll.save.title': 'Save your recovery codes',
  'enroll.save.of': 'Recovery codes for {name}, {issuer}',
  'enroll.save.message':
    'If you lose your phone, each code lets you sign in once. They are not shown again: copy them or print this page, and keep them in a safe place.',
  'enroll.prove.title': 'Enter a code',
  'enroll.prove.message': 'Enter the six-digit code that the app shows for this account.',
  'enroll.prove.code': 'Code',
  'enroll.prove.submit': 'Finish',
  'enroll.saved': 'I have saved my recovery codes',
  'enroll.unsaved': 'Did you save your recovery codes? If not, {startOver}: you then get new ones.',
  'enroll.startOver': 'start over',

  'certificate.title': 'Sign in with a certificate',
  'certificate.message': 'Your browser has a certificate. Use it to sign in without a password.',
  'certificate.submit': 'Use my certificate',
  'certificate.missing':
    'Your browser did not send a certificate. If you have one, close the browser, open it again and choose the certificate when asked.',
  // D-12: one wording, whatever the reason.
  'certificate.refused': 'This certificate cannot be used to sign in here.',

  'provider.title': 'Choose how to sign in',
  'provider.choose': 'Sign in with an account from another provider. You return here afterwards.',
  'provider.continue': 'Continue with {name}',
  'provider.more': 'More ways to sign in',
  'provider.message':
    'This sign-in needs a confirmation from an identity provider, which the application gets for you. These providers are accepted:',
  'provider.none':
    'This sign-in needs a confirmation from an identity provider, and none is set up here.',
  'provider.failed':
    'The identity provider did not sign you in. Try again, or sign in another way.',
  // D-12: one wording, whatever the reason.
  'provider.refused': 'That account cannot be used to sign in here. Try another one.',
  'provider.unavailable': 'That identity provider is not responding. Try again in a minute.',
  'provider.tooMany': 'Too many failed attempts. Wait a minute, then try again.',

  'secondProof.title': 'One more sign-in',
  'secondProof.message':
    'An identity provider must also confirm your account. You return here afterwards.',
  'secondProof.otherAccount':
    'That account does not belong to your account here. Try again with the right one.',

  'formPost.title': 'One moment',
  'formPost.message': 'Returning to the application. If nothing happens, press Continue.',
  'formPost.submit': 'Continue',

  'signOut.title': 'Sign out?',
  'signOut.signedInAs': 'In this browser you are signed in to your account as {name}.',
  'signOut.others': 'Applications and your other devices stay signed in.',
  'signOut.submit': 'Sign out',
  'signOut.stay': 'Stay signed in',
  'signOut.account': 'Go to your account',

  'notSignedIn.title': 'You are not signed in',
  'notSignedIn.message':
    'There is no session in this browser to sign out of. You can close this window.',
  'notSignedIn.others':
    'Applications may still be signed in. Sign out there to end their sessions.',

  'signedOut.title': 'Signed out',
  'signedOut.message': 'You can close this window.',
  'signedOut.again': 'Sign in again',
  'end.everywhere': 'Confirmed: access has ended everywhere.',
  'end.pending':
    '{confirmed} of {all} servers have confirmed it. The others refuse access by {time} at the latest. Reload the page to check again.',

  'signingIn.site': 'You are signing in to {host}.',
  'signingIn.device': 'You are signing in to an application on this device.',
  'signingIn.account': 'You are signing in to your account.',
  'signingIn.console': 'You are signing in to the console.',
  'signingIn.siteAs': 'You are signing in to {host} as {name}.',
  'signingIn.deviceAs': 'You are signing in to an application on this device as {name}.',
  'signingIn.accountAs': 'You are signing in to your account as {name}.',
  'signingIn.consoleAs': 'You are signing in to the console as {name}.',
  'signingIn.other': 'Use another account',

  'continue.title': 'Continue?',
  'continue.submit': 'Continue',

  'ended.message': 'It took too long, or is already complete.',
  'ended.restart': 'Start again',

  'codes.copy': 'Copy',
  'codes.copied': 'Copied',
  'codes.download': 'Download',
  'codes.file': 'recovery-codes',

  'password.show': 'Show password',
  'password.hide': 'Hide password',
} as const
