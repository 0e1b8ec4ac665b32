/** The types of value that only the keys of the pages have. */
import { contrastOf, GROUNDS, isColor, LEAST_TEXT_CONTRAST } from '../../base/colors/contrast.ts'
import { keyFacts, parsedBy, type Reading, refused, text } from '../values.ts'

/** What users read on pages: one line, without characters that change how the rest is shown (D-191). */
export function label(rule: string, example: string) {
  const read = parsedBy((given) => {
    const isLabel = /^[^\p{C}\p{Zl}\p{Zp}]{1,60}$/u.test(given) && given.trim() === given
    return isLabel ? given : undefined
  }, 'must be one line of 1 to 60 characters, without spaces at its ends')
  return text(read).register(keyFacts, { type: 'a name', rule, example })
}

/** A color that text can have on this ground (WCAG 1.4.3). */
export function textColor(ground: keyof typeof GROUNDS, rule: string, example: string) {
  return text((given): Reading<string> => {
    const color = given.toLowerCase()
    if (!isColor(color)) return refused('is not a color; write it like #1f56c3')
    const ratio = contrastOf(color, GROUNDS[ground])
    if (ratio >= LEAST_TEXT_CONTRAST) return { ok: true, value: color }
    const change = ground === 'light' ? 'darker' : 'lighter'
    const measured = `has a contrast of ${ratio.toFixed(1)} on the ${ground} page`
    return refused(`${measured}; at least ${LEAST_TEXT_CONTRAST} is needed: choose a ${change} one`)
  }).register(keyFacts, { type: 'a color', rule, example })
}

/** Where people get help: a page or a mailbox. */
export function supportLink(rule: string, example: string) {
  const read = parsedBy((given) => {
    const url = URL.parse(given)
    return url?.protocol === 'https:' || url?.protocol === 'mailto:' ? url.href : undefined
  }, 'must begin with https:// or mailto:')
  return text(read).register(keyFacts, { type: 'a URL', rule, example })
}
