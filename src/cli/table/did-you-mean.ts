/** Guesses which command or option a mistyped one was meant to be. */
import { distance } from '../../config/shown/distance.ts'
import type { Command } from './command.ts'
import { meaningOf } from './find-command.ts'

/** Words that other programs use for ours. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  add: 'create',
  new: 'create',
  edit: 'update',
  set: 'update',
  ls: 'list',
  show: 'get',
  rm: 'delete',
  remove: 'delete',
  signin: 'login',
  signout: 'logout',
  start: 'run',
  serve: 'run',
  user: 'identity',
  users: 'identities',
}
export const MOST_SUGGESTED = 3

/** Returns the words of the commands that are closest to what was typed, best first, or none. */
export function suggestedCommands(
  typed: readonly string[],
  commands: readonly Command[],
): readonly string[] {
  const ours = typed.map((word) => (Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word] : word))
  const all = commands.map(({ words }) => words)
  // Of a command with two words, the operands may follow: compare as many words as it has.
  return closest(all, (candidate) => {
    const length = candidate.split(' ').length
    const said = ours.slice(0, length).filter((word) => word !== undefined)
    return distance(meaningOf(said), meaningOf(candidate.split(' ')))
  })
}

/** Returns the options that are closest to what was typed, with their dashes, or none. */
export function suggestedOptions(typed: string, command: Command): readonly string[] {
  return suggestedNames(typed, Object.keys(command.options)).map((name) => `--${name}`)
}

/** Returns the names that are closest to what was typed, or none. */
export function suggestedNames(typed: string, names: readonly string[]): readonly string[] {
  return closest(names, (candidate) => distance(typed, candidate))
}

/** A sentence for the end of a complaint; empty without a suggestion. */
export function didYouMean(suggestions: readonly string[]): string {
  const quoted = suggestions.map((one) => `"${one}"`)
  const last = quoted.pop()
  if (last === undefined) return ''
  return `. Did you mean ${quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`}?`
}

function closest(
  candidates: readonly string[],
  distanceTo: (candidate: string) => number,
): readonly string[] {
  const near = candidates
    .map((candidate) => ({ candidate, steps: distanceTo(candidate) }))
    // A third of the letters may be wrong; more is a guess that only confuses.
    .filter(({ candidate, steps }) => steps <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((one, other) => one.steps - other.steps)
  const best = near[0]?.steps ?? 0
  return near
    .filter(({ steps }) => steps === best)
    .slice(0, MOST_SUGGESTED)
    .map(({ candidate }) => candidate)
}
