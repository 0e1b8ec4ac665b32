/** For `script-src` of the content security policy: only this script runs (D-50). */
import { sha256 } from '../../../base/encoding.ts'
import type { SafeHtml } from '../../login/html.ts'

export function scriptSource(script: SafeHtml): `'sha256-${string}'` {
  return `'sha256-${Buffer.from(sha256(script.toString())).toString('base64')}'`
}
