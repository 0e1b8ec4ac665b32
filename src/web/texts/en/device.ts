/** The pages on which a user approves the sign-in of a device: RFC 8628 §3.3. */
export const DEVICE = {
  'device.title': 'Sign in on another device',
  'device.message': 'Enter the code that the device shows.',
  'device.code': 'Code',
  'device.continue': 'Continue',
  'device.warning':
    'Continue only if you started the sign-in on that device yourself. Never enter a code that someone sent you.',
  'device.again': 'Enter a code',
  'device.error.malformed':
    'This is not a complete code. It has eight letters: compare it with the device.',
  'device.error.unknown':
    'No device is waiting with this code. Compare it with the device and try again.',
  'device.error.expired':
    'This code has expired. Start again on the device and enter the new code.',
  'device.error.answered':
    'This code was already used. If the device still waits, start again there.',
  'device.error.certificate':
    'You signed in with a certificate, which the device does not have. Sign in another way, or enroll the device with a certificate of its own.',
  'device.confirm.title': 'Sign in this device?',
  'device.confirm.as': 'You are signed in as {name}.',
  'device.confirm.compare': 'Does your device show exactly this code?',
  'device.confirm.program': 'Program',
  'device.confirm.address': 'Address',
  'device.confirm.time': 'Requested',
  'device.confirm.warning':
    'The device gets access to everything you have access to. If you did not start this on a device in front of you, or someone sent you a link or a code, choose “Deny”.',
  'device.confirm.approve': 'Approve',
  'device.confirm.deny': 'Deny',
  'device.approved.title': 'Device approved',
  'device.approved.message':
    'The device signs in within a few seconds. You can close this page. Your account lists the device under your sessions, where you can sign it out.',
  'device.approved.sessions': 'Go to your sessions',
  'device.denied.title': 'Device denied',
  'device.denied.message':
    'The device does not get access. If you did not start this, tell your administrator that someone sent you the code. You can close this page.',
  'device.blocked.title': 'Not available for your account',
  'device.blocked.message':
    'Your account also needs a confirmation from an identity provider with every request, which this page and the device cannot send.',
  'signingIn.otherDevice': 'You are signing in to approve another device.',
  'signingIn.otherDeviceAs': 'You are signing in as {name} to approve another device.',
} as const
