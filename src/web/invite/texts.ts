/** All texts of the pages of invitations and resets. Short, and in the words of people who have never heard of us. */

export const CODE = {
  title: 'Open your link',
  message: 'Paste the link that you received, or the code at its end.',
  label: 'Link or code',
  submit: 'Continue',
} as const

export const INVITED = {
  title: 'Choose your password',
  message: (name: string) => `You are invited to sign in as ${name}.`,
  submit: 'Save and sign in',
} as const

export const RESET_PASSWORD = {
  title: 'Choose a new password',
  message: (name: string) =>
    `For the account ${name}. Your old password stops working, and you are signed out everywhere else.`,
  submit: 'Save and sign in',
} as const

export const NEW_PASSWORD = {
  username: 'Your username',
  password: 'New password',
  repeated: 'Repeat the new password',
  rule: (shortest: number) => `At least ${shortest} characters, and not one of the common ones.`,
  missing: 'Fill in both fields.',
  different: 'The two passwords are different.',
  refused: (reason: string) => `This password ${reason}.`,
} as const

export const RESET_MFA = {
  title: 'Replace your authenticator app',
  message: (name: string) =>
    `For the account ${name}. The app and the recovery codes that you have stop working, and you are signed out everywhere. You set up a new app right after, if your account needs one.`,
  password: 'Your password',
  missing: 'Enter your password.',
  wrong: 'That password is not correct, or too many wrong ones were tried.',
  submit: 'Remove the old app',
} as const

export const IDENTITY_FILE = {
  title: 'Get your identity file',
  message: (name: string) => `You are invited as ${name}. Programs sign in with an identity file.`,
  secret:
    'The file holds a private key: whoever has it can sign in as you. Save it where only you can read it, and do not send it to anybody.',
  submit: 'Create the file in this browser',
  scripts: 'Without scripts, this browser cannot create the file. Use a program instead.',
  done: 'Your identity file is ready',
  save: 'Save the file if your browser has not done so. It is not stored anywhere else, and the link does not work again.',
  again: 'Save the file',
  next: 'Then sign in with it:',
  failed: 'The file could not be created. Check your connection and try again.',
  gone: 'This link can no longer be used. Ask your administrator for a new one.',
} as const

export const CERTIFICATE = {
  title: 'Register your certificate',
  message: (name: string) =>
    `You are invited as ${name}, with a certificate that you already have from your organization. A program registers it.`,
} as const

export const PROGRAM = {
  title: 'Use a program instead',
  message: 'Save the invitation as a file, and enroll with it:',
  save: 'Save the invitation',
  openziti: 'Other programs that enroll with a JWT take the same file.',
} as const

export interface InviteMessage {
  readonly title: string
  readonly message: string
}

const ASK = 'Ask your administrator for a new one.'

export const REFUSALS = {
  INVALID_ENROLLMENT_TOKEN: {
    title: 'This link is not valid',
    message: `It may be incomplete, withdrawn, or replaced by a newer one. Copy the whole link, or ask your administrator for a new one.`,
  },
  ENROLLMENT_EXPIRED: { title: 'This link has expired', message: ASK },
  ENROLLMENT_USED: {
    title: 'This link was already used',
    message: `Each link works once. If you used it, sign in. If it was not you, tell your administrator at once.`,
  },
  DISABLED: {
    title: 'This account is disabled',
    message: 'The link works again when your administrator enables the account.',
  },
  MAX_AUTHENTICATOR_METHODS_REACHED: {
    title: 'Already set up',
    message: 'This account already has what the link is for. Sign in, or ask your administrator.',
  },
} as const satisfies Record<string, InviteMessage>

export const SIGN_IN = 'Go to sign-in'
