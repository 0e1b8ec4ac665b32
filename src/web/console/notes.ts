/** The notices after a change. A cookie carries the key; unknown keys show nothing. */

export const CONSOLE_NOTES = {
  confirmed: 'Thank you. You can make changes for the next five minutes.',
  'confirm-first': 'Nothing was changed, because you signed in a while ago.',
  'confirmed-with-input':
    'What you entered is still here, and nothing was changed yet: check it, then save it.',
  'confirm-with-input':
    'Nothing was changed yet, because you signed in a while ago. What you entered stays here.',
  'policy-created': 'The policy was created.',
  'policy-changed': 'The policy was changed. It applies to every session at its next call.',
  'policy-deleted': 'The policy was deleted.',
  'signer-created': 'The signer was created. Check a token of it below.',
  'signer-changed': 'The signer was changed.',
  'signer-deleted': 'The signer was deleted.',
  'ca-created': 'The CA was added. Prove now that you have its key.',
  'ca-changed': 'The CA was changed.',
  'ca-verified': 'The CA is verified.',
  'ca-deleted': 'The CA was deleted.',
  'signed-in-again': 'You were signed out in the meantime, so nothing was changed.',
  'identity-changed': 'The identity was changed.',
  'nothing-to-change': 'Nothing was changed: everything is as it was.',
  'identity-disabled': 'The identity is disabled. Its sessions have ended.',
  'identity-enabled': 'The identity is enabled.',
  'identity-deleted': 'The identity was deleted.',
  'identity-signed-out': 'All sessions of this identity have ended.',
  'password-unlocked': 'The password is unlocked.',
  'second-factor-reset': 'The second factor and its recovery codes were removed.',
  'session-ended': 'The session has ended.',
  'sessions-ended': 'The chosen sessions have ended.',
  'no-session-chosen': 'Nothing was changed. Choose at least one session.',
} as const

export type ConsoleNote = keyof typeof CONSOLE_NOTES

export function consoleNoteNamed(text = ''): ConsoleNote | undefined {
  return Object.hasOwn(CONSOLE_NOTES, text) ? (text as ConsoleNote) : undefined
}
