/**
 * How a text is looked for without regard to case: letter by letter, each in its small and its capital form, so that
 * every database and the memory find the same. What has more than one letter in the other case (ß, SS) is itself alone.
 */

/** For each character of the text, the characters that stand for it; itself is the first. */
export function lettersOf(text: string): readonly (readonly string[])[] {
  return [...text].map((letter) => {
    const forms = [letter, letter.toLowerCase(), letter.toUpperCase()]
    return [...new Set(forms.filter((form) => [...form].length === 1))]
  })
}
