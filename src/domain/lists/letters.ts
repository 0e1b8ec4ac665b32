/**
 * Case-insensitive search: letter by letter, each in lower and upper case, so that every database and the in-memory
 * search find the same. A letter that becomes several in the other case (ß, SS) matches only itself.
 */

/** For each character of the text, the characters that match it; the first is the character itself. */
export function lettersOf(text: string): readonly (readonly string[])[] {
  return [...text].map((letter) => {
    const forms = [letter, letter.toLowerCase(), letter.toUpperCase()]
    return [...new Set(forms.filter((form) => [...form].length === 1))]
  })
}
