/** The pages of invitations and resets, in the words of people who have never heard of us. */
export const INVITE = {
  'link.title': 'Open your link',
  'link.message': 'Paste the link that you received, or the code at its end.',
  'link.label': 'Link or code',
  'link.submit': 'Continue',

  'invited.title': 'Choose your password',
  'invited.message': 'You are invited to sign in as {name}.',
  'resetPassword.title': 'Choose a new password',
  'resetPassword.message':
    'For the account {name}. Your old password stops working, and you are signed out everywhere else.',
  'newPassword.username': 'Your username',
  'newPassword.missing': 'Fill in both fields.',
  'newPassword.submit': 'Save and sign in',
  'newPassword.passkey': 'Save and create a passkey',

  'resetMfa.title': 'Replace your app or passkey',
  'resetMfa.message':
    'For the account {name}. Your authenticator app, your passkeys and your recovery codes stop working, and you are signed out everywhere. If your account needs an app or a passkey, you set up the new one right away.',
  'resetMfa.missing': 'Enter your password.',
  'resetMfa.wrong': 'That password is incorrect, or there were too many failed attempts.',
  'resetMfa.submit': 'Remove and continue',

  'identityFile.title': 'Get your identity file',
  'identityFile.message': 'You are invited as {name}. Programs sign in with an identity file.',
  'identityFile.secret':
    'The file contains a private key: anyone who has it can sign in as you. Save it where only you can read it, and never send it to anyone.',
  'identityFile.submit': 'Create the file',
  'identityFile.scripts':
    'This browser does not run scripts, so it cannot create the file. Use a program instead.',
  'identityFile.done': 'Your identity file is ready',
  'identityFile.save':
    'If your browser has not saved it, save it now. It exists nowhere else, and the link does not work again.',
  'identityFile.again': 'Save the file',
  'identityFile.next': 'Sign in with it:',
  'identityFile.failed': 'The file could not be created. Check your connection and try again.',
  'identityFile.gone': 'This link can no longer be used. Ask your administrator for a new one.',

  'ownCertificate.title': 'Register your certificate',
  'ownCertificate.message':
    'You are invited as {name}, with a certificate that you already have from your organization. A program registers it.',

  'program.title': 'Use a program instead',
  'program.message': 'Save the invitation as a file, then enroll with it:',
  'program.save': 'Save the invitation',
  'program.others': 'Other programs that enroll with a JWT can use the same file.',

  'inviteError.INVALID_ENROLLMENT_TOKEN.title': 'This link is not valid',
  'inviteError.INVALID_ENROLLMENT_TOKEN.message':
    'It may be incomplete, withdrawn, or replaced by a newer one. Copy the whole link, or ask your administrator for a new one.',
  'inviteError.ENROLLMENT_EXPIRED.title': 'This link has expired',
  'inviteError.ENROLLMENT_EXPIRED.message': 'Ask your administrator for a new one.',
  'inviteError.ENROLLMENT_USED.title': 'This link was already used',
  'inviteError.ENROLLMENT_USED.message':
    'Each link works once. If you used it, sign in. If it was not you, tell your administrator at once.',
  'inviteError.disabled.title': 'This account is disabled',
  'inviteError.disabled.message':
    'The link works again when your administrator enables the account.',
  'inviteError.MAX_AUTHENTICATOR_METHODS_REACHED.title': 'Already set up',
  'inviteError.MAX_AUTHENTICATOR_METHODS_REACHED.message':
    'This account already has what the link is for. Sign in, or ask your administrator.',
  'inviteError.again': 'Paste the link again',
  'inviteError.signIn': 'Go to sign-in',
} as const
