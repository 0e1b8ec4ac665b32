/**
 * The name of an identity that enrolls itself, by the `identityNameFormat` of its CA. API 4.6; D-131. Values from the
 * certificate are plain text: they are substituted once, and the result is turned into a valid single-line name.
 */
import type { IdentityId } from '../../base/ids.ts'
import { LONGEST_NAME } from '../../protocol/limits.ts'
import type { Ca } from '../certificates/third-party/ca.ts'

export interface Enrolling {
  readonly ca: Pick<Ca, 'id' | 'name' | 'identityNameFormat'>
  /** From the certificate; undefined if it has none. */
  readonly commonName: string | undefined
  readonly identityId: IdentityId
}

export function identityName(enrolling: Enrolling): string {
  return lineOf(filled(enrolling), LONGEST_NAME) || enrolling.identityId
}

/** Used if the name is taken: the id makes it unique. */
export function unusedIdentityName(enrolling: Enrolling): string {
  const suffix = `-${enrolling.identityId}`
  return `${lineOf(filled(enrolling), LONGEST_NAME - suffix.length)}${suffix}`
}

function filled({ ca, commonName, identityId }: Enrolling): string {
  const values: Readonly<Record<string, string>> = {
    caName: ca.name,
    commonName: commonName ?? identityId,
    caId: ca.id,
    identityId,
  }
  // Replace in one pass: a common name that looks like a placeholder is not expanded.
  return ca.identityNameFormat.replace(
    /\[(caName|commonName|caId|identityId)\]/g,
    (_, placeholder: string) => values[placeholder] ?? '',
  )
}

function lineOf(text: string, longest: number): string {
  const line = text.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
  // Cut by code points, so that no character is split.
  let kept = ''
  for (const letter of line.trim()) {
    if (kept.length + letter.length > longest) break
    kept += letter
  }
  return kept.trim()
}
