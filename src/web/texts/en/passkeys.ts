/** Passkeys, in logins and on the account page. D-446. */
export const PASSKEYS = {
  'signIn.passkey': 'Use a passkey',
  'code.passkeyInstead': 'Use a passkey instead',
  'passkey.title': 'Use your passkey',
  'passkey.message': 'Confirm with the fingerprint, face, PIN or security key of your passkey.',
  'passkey.use': 'Use passkey',
  'passkey.appInstead': 'Use an authenticator app instead',
  'passkey.recovery': 'Use a recovery code',
  'passkey.recoveryCode': 'Recovery code',
  'passkey.wrongRecoveryCode':
    'That recovery code is incorrect, or was already used. Try another one.',
  'passkey.failed.get': 'The passkey was not used. Try again, or choose another way.',
  'passkey.failed.create': 'The passkey was not created. Try again.',
  'passkey.exists':
    'This device already has a passkey for your account. Use another device or security key.',
  'passkey.unsupported': 'This browser cannot use passkeys. Use another browser.',
  'passkey.noScripts':
    'Passkeys need scripts. Allow scripts for this page, or use another browser.',
  'passkey.elsewhere':
    'Your passkeys were created at another address of this service. Open that address, or use a recovery code.',
  // D-12: one wording, whatever the reason.
  'passkey.refused': 'This passkey cannot be used to sign in here. Sign in another way.',
  'newPasskey.title': 'Create a passkey',
  'newPasskey.message':
    'To sign in, you also need a passkey: your fingerprint, face, PIN or a security key, instead of a code.',
  'newPasskey.save':
    'If you lose your passkey, each code lets you sign in once. They work as soon as the passkey is created, and are not shown again: keep them in a safe place.',
  'newPasskey.create': 'Create passkey',
  'error.PASSKEY_INVALID.title': 'Passkey not accepted',
  'error.PASSKEY_INVALID.message':
    'This passkey was not accepted. Try again, or choose another way.',
  'error.PASSKEY_EXISTS.title': 'Passkey already exists',
  'error.PASSKEY_EXISTS.message': 'This passkey is already registered. Use another one.',
  'error.MAX_PASSKEYS_REACHED.title': 'Too many passkeys',
  'error.MAX_PASSKEYS_REACHED.message':
    'Your account has as many passkeys as it can have. Remove one first.',
  'error.PASSKEYS_UNAVAILABLE.title': 'Passkeys do not work here',
  'error.PASSKEYS_UNAVAILABLE.message':
    'Passkeys need the name of this service in the address, not a number. Open it by its name, and sign in there.',
  'error.FACTOR_NOT_PROVEN.title': 'Confirm it first',
  'error.FACTOR_NOT_PROVEN.message':
    'Your account already has a second factor. Use it before you add another one.',
  'overview.passkeys.one': 'You have one passkey.',
  'overview.passkeys.other': 'You have {count} passkeys.',
  'overview.noPasskeys': 'With a passkey, you sign in with your fingerprint, face or PIN.',
  'page.passkeys': 'Passkeys',
  'passkeys.message':
    'A passkey signs you in with your fingerprint, face, PIN or a security key. Remove any passkey you don’t recognize.',
  'passkeys.none': 'You have no passkeys yet.',
  'passkeys.unavailable': 'Passkeys do not work at this address. Open the service by its name.',
  'passkeys.add': 'Add a passkey',
  'passkeys.addMessage':
    'Your browser asks where to keep the passkey: on this device, on a phone, or on a security key.',
  'passkeys.name': 'Name',
  'passkeys.defaultName': 'Passkey',
  'passkeys.created': 'Created',
  'passkeys.used': 'Last used',
  'passkeys.never': 'never',
  'passkeys.host': 'Works at',
  'passkeys.rename': 'Rename',
  'passkeys.renameLabel': 'Rename {name}',
  'passkeys.remove': 'Remove',
  'passkeys.removeLabel': 'Remove {name}',
  'passkeys.removeMessage': 'Sessions that began with it are signed out. Confirm that it is you:',
  'passkeys.removeWithPasskey': 'Remove, confirm with a passkey',
  'passkeys.code': 'Code from your app, or a recovery code',
  'passkeys.removeWithCode': 'Remove, confirm with the code',
  'note.passkey-added': 'Your passkey was added.',
  'note.passkey-renamed': 'Your passkey was renamed.',
  'note.passkey-removed': 'The passkey was removed.',
} as const
