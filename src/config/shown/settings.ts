/**
 * The configuration as its operator wrote it, one line for each value, for people who may read it and must not learn a
 * secret from it: variables stay unresolved, and credentials are left out. D-372.
 */
import { get } from '../checks.ts'
import type { Setting } from '../config.ts'
import type { Adjustment } from '../durations.ts'
import { KEYS, type Key } from '../keys.ts'

/** `tree`: the parsed file, before its variables are resolved. */
export function settingsOf(tree: unknown, adjustments: readonly Adjustment[]): readonly Setting[] {
  const adjusted = new Map(adjustments.map((one) => [one.path, one]))

  function linesOf(keys: readonly Key[], section: unknown, path: string): readonly Setting[] {
    return keys.flatMap((key) => {
      const at = path === '' ? key.name : `${path}.${key.name}`
      const given = get(section, key.name) ?? undefined
      if (key.children.length > 0) {
        if (!key.isList) return linesOf(key.children, given, at)
        const entries = Array.isArray(given) ? given : []
        return entries.flatMap((entry, i) => linesOf(key.children, entry, `${at}[${i}]`))
      }
      const value = given ?? key.usual
      if (value === undefined) return []
      const raised = adjusted.get(at)
      return [
        {
          path: at,
          value: raised?.used ?? shown(at, value),
          isSet: given !== undefined,
          adjustedFrom: raised?.given,
        },
      ]
    })
  }

  return linesOf(KEYS, tree, '')
}

const HIDDEN = '(not shown)'

/**
 * What can be a credential, by the name of its key; the address of a webhook often is one. Files and variables are only
 * named.
 */
const SECRETS = /(?:password|passphrase|secret|token|headers|credential|key)$|webhook/i
const NAMED_ONLY = new Set(['secret.file', 'secret.environment'])
const IS_FILE = /identity\.key$/

function shown(path: string, value: unknown): string {
  const isSecret = SECRETS.test(path) && !NAMED_ONLY.has(path) && !IS_FILE.test(path)
  if (isSecret) return HIDDEN
  if (Array.isArray(value)) return value.map((one) => shown(path, one)).join(', ')
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, one]) => `${name}: ${shown(`${path}.${name}`, one)}`)
      .join(', ')
  }
  return withoutCredentials(String(value))
}

/** `postgres://user:password@host/db?password=…`: an address may carry credentials before the host and in its query. */
function withoutCredentials(text: string): string {
  if (!text.includes('://')) return text
  // Greedy: a password may contain another @ or a slash.
  return text.replace(/\/\/.*@/s, '//…@').replace(/\?.*$/s, '?…')
}
