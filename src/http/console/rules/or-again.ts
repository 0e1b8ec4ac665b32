/** A change that shows its form again if it is refused. */
import { CATALOGUE, Failure } from '../../../errors/catalogue.ts'
import type { SafeHtml } from '../../../web/login/html.ts'
import type { Answer } from '../../answer.ts'
import { consolePage } from '../console-route.ts'
import { refusalText } from '../refusal-text.ts'

/** Shows the form again, as it was filled in, if the change is refused. */
export async function orAgain(
  change: () => Promise<Answer>,
  again: (error: string, failure: Failure) => Promise<SafeHtml>,
): Promise<Answer> {
  try {
    return await change()
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'NOT_FOUND') throw error
    const answer = consolePage(CATALOGUE[error.code].status, await again(refusalText(error), error))
    // The log has the code, as for every other refusal.
    return { ...answer, failure: error }
  }
}
