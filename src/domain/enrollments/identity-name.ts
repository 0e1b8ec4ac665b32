/**
 * The name of an identity that enrolls itself, by the `identityNameFormat` of its CA. API 4.6; D-131. What stands in
 * the certificate is text and nothing more: it is put in once, and made a line that a name may be.
 */
import type { IdentityId } from '../../base/ids.ts'
import { LONGEST_NAME } from '../../protocol/limits.ts'
import type { Ca } from '../certificates/third-party/ca.ts'

export interface Enrolling {
  readonly ca: Pick<Ca, 'id' | 'name' | 'identityNameFormat'>
  /** Of the certificate; undefined where it has none. */
  readonly commonName: string | undefined
  readonly identityId: IdentityId
}

export function identityName(enrolling: Enrolling): string {
  return lineOf(filled(enrolling), LONGEST_NAME) || enrolling.identityId
}

/** For when somebody has that name: the id makes it the only one. */
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
  // In one go: a common name that looks like a placeholder stays what it is.
  return ca.identityNameFormat.replace(
    /\[(caName|commonName|caId|identityId)\]/g,
    (_, placeholder: string) => values[placeholder] ?? '',
  )
}

function lineOf(text: string, longest: number): string {
  const line = text.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
  // By code points, so that none is cut in half.
  let kept = ''
  for (const letter of line.trim()) {
    if (kept.length + letter.length > longest) break
    kept += letter
  }
  return kept.trim()
}
