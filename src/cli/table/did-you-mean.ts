/** Guesses which command or option a mistyped one was meant to be. */
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

/** How many letters must be added, removed, replaced or swapped with their neighbor (optimal string alignment). */
export function distance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const isSame = from[i - 1] === to[j - 1]
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      row.push(
        Math.min(
          (last[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          (last[j - 1] ?? 0) + (isSame ? 0 : 1),
          isSwapped ? (beforeLast[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    beforeLast = last
    last = row
  }
  return last[to.length] ?? 0
}
