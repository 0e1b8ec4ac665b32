/**
 * Sends the authorization response to the client: in the query of a redirect, or with a posted form. D-3, D-11, D-50.
 */
import type { ClientAnswer } from '../../domain/login/request/client-answer.ts'
import { formActionSource } from '../../protocol/redirect-uri.ts'
import { formPostPage } from '../../web/login/pages/form-post-page.ts'
import { type Answer, page, redirect } from '../answer.ts'
import type { Call } from '../call.ts'

export function sendToClient(
  call: Pick<Call, 'presentation'>,
  { redirectUri, responseMode, parameters }: ClientAnswer,
): Answer {
  if (responseMode === 'form_post') {
    const policy = { formAction: [formActionSource(redirectUri)], script: 'form-post' } as const
    return page(
      200,
      formPostPage(call.presentation, { action: redirectUri, fields: parameters }),
      policy,
    )
  }
  // Use the address exactly as sent (D-8). If it already has a query, keep it and append (RFC 6749 §3.1.2).
  const added = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  return redirect(`${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${added}`)
}
