/** Raises the durations of a file that are too short, by the rules in schema.ts. SPEC Limits, D-43, D-274. */
import { type Duration, formatDuration, milliseconds } from '../base/time/duration.ts'
import type { Adjustment, DurationRule } from './durations.ts'
import { KEYS, type Key } from './keys.ts'
import type { CheckedFile } from './schema.ts'

/** Returns the file with what is under its minimum raised, and says so once for each. Keeps what is long enough. */
export function adjustDurations<File extends Section = CheckedFile>(
  file: File,
  keys: readonly Key[] = KEYS,
): { readonly file: File; readonly adjustments: readonly Adjustment[] } {
  const adjustments: Adjustment[] = []

  function adjustSection(section: Section, keys: readonly Key[], path: string): Section {
    const adjusted: Record<string, unknown> = { ...section }
    for (const key of keys) {
      const value = section[key.name]
      if (value === undefined) continue
      const at = path === '' ? key.name : `${path}.${key.name}`
      if (key.duration !== undefined) {
        adjusted[key.name] = atLeast(at, value as Duration, minimumOf(key.duration, adjusted))
      } else if (key.children.length > 0) {
        adjusted[key.name] = key.isList
          ? (value as readonly Section[]).map((one, i) =>
              adjustSection(one, key.children, `${at}[${i}]`),
            )
          : adjustSection(value as Section, key.children, at)
      }
    }
    return adjusted
  }

  function atLeast(path: string, value: Duration, minimum: Duration): Duration {
    if (value >= minimum) return value
    adjustments.push({ path, given: formatDuration(value), used: formatDuration(minimum) })
    return minimum
  }

  // The keys are those of the schema that has read the file, so each value is of the kind that its key has.
  return { file: adjustSection(file, keys, '') as File, adjustments }
}

type Section = Readonly<Record<string, unknown>>

function minimumOf({ minimum, longerThan }: DurationRule, beside: Section): Duration {
  if (longerThan === undefined) return minimum
  const other = beside[longerThan.key]
  if (typeof other !== 'number')
    throw new Error(`there is no duration ${longerThan.key} to compare`)
  return milliseconds(other + longerThan.by)
}
