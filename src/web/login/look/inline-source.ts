/** For the content security policy: allows exactly this inline script or stylesheet (D-50). */
import { sha256 } from '../../../base/encoding.ts'
import type { SafeHtml } from '../html.ts'

export function inlineSource(content: SafeHtml): `'sha256-${string}'` {
  return `'sha256-${Buffer.from(sha256(content.toString())).toString('base64')}'`
}
