/**
 * Paths that belong to the gateway and never reach an upstream: everything below `/.latchkey/`. D-402.
 */
import type { RequestPath } from './request-path.ts'

const OWN_SEGMENT = '.latchkey'

export type OwnPath =
  /** `rest` are the segments after `/.latchkey/NAME`. */
  | { readonly outcome: 'own'; readonly name: string; readonly rest: readonly string[] }
  | { readonly outcome: 'not-own' }
  /** An upstream could read it as one of ours. */
  | { readonly outcome: 'ambiguous'; readonly why: string }

export function readOwnPath({ segments, lenient, fault }: RequestPath): OwnPath {
  const [first, name = '', ...rest] = segments
  if (first === OWN_SEGMENT && fault === undefined) return { outcome: 'own', name, rest }
  const couldBeOwn =
    fault === undefined ? lenient[0] === OWN_SEGMENT : lenient.includes(OWN_SEGMENT)
  if (!couldBeOwn) return { outcome: 'not-own' }
  return { outcome: 'ambiguous', why: 'its path could be one of the gateway' }
}
