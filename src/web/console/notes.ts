/** The notices after a change. A cookie carries the key; unknown keys show nothing. */

export const CONSOLE_NOTES = {
  confirmed: 'Thank you. You can make changes for the next five minutes.',
  'confirm-first': 'Nothing was changed. Confirm that it is you, then try again.',
  'signed-in-again': 'You were signed out in the meantime, so nothing was changed.',
} as const

export type ConsoleNote = keyof typeof CONSOLE_NOTES

export function consoleNoteNamed(text = ''): ConsoleNote | undefined {
  return Object.hasOwn(CONSOLE_NOTES, text) ? (text as ConsoleNote) : undefined
}
