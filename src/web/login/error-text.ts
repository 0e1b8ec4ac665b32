/**
 * What users are told about a failure. Programs get the sentences of the error catalogue; these say the same without
 * terms such as redirect_uri.
 */
import { isTextKey, type Texts } from '../texts/languages.ts'

export interface ErrorText {
  readonly title: string
  readonly message: string
}

/** Returns the text for a failure of this code; codes without their own text get a general one. */
export function errorText(texts: Pick<Texts, 'template'>, code: string): ErrorText {
  return textAbout(texts, 'error', code)
}

/** The account pages say some of it differently. */
export function accountErrorText(texts: Pick<Texts, 'template'>, code: string): ErrorText {
  const isSaidAlike = ALIKE.some((one) => one === code)
  return textAbout(texts, isSaidAlike ? 'error' : 'accountError', code)
}

const ALIKE = ['RATE_LIMITED', 'SERVER_TOO_BUSY', 'NOT_READY'] as const

function textAbout(
  texts: Pick<Texts, 'template'>,
  group: 'error' | 'accountError',
  code: string,
): ErrorText {
  const title = `${group}.${code}.title`
  const message = `${group}.${code}.message`
  return isTextKey(title) && isTextKey(message)
    ? { title: texts.template(title), message: texts.template(message) }
    : {
        title: texts.template(`${group}.other.title`),
        message: texts.template(`${group}.other.message`),
      }
}
