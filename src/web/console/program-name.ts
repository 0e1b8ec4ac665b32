/** The console is in English, whatever the reader's language. */
import { programOf } from '../account/program.ts'
import { presentationIn } from '../login/presentation.ts'

const ENGLISH = presentationIn('en')

/** "Firefox on Windows" (D-180). */
export const programName = (userAgent: string | undefined) => programOf(ENGLISH, userAgent)
