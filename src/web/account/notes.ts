/** The messages after a change. A cookie carries the key; unknown keys show nothing. */

import type { TextKey } from '../texts/en.ts'
import { isTextKey } from '../texts/languages.ts'

export type Note = TextKey extends infer K ? (K extends `note.${infer N}` ? N : never) : never

export function isNote(text: string): text is Note {
  return isTextKey(`note.${text}`)
}
