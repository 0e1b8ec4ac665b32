/** The responses of these pages. A link that cannot be used is a page that says why and names a way on. */
import type { AccountPorts } from '../../domain/account/ports.ts'
import { Failure } from '../../errors/catalogue.ts'
import { inviteErrorText, inviteMessagePage } from '../../web/invite/message-page.ts'
import type { PagePolicy } from '../../web/login/content-security-policy.ts'
import type { SafeHtml } from '../../web/login/html.ts'
import { type Answer, page } from '../answer.ts'
import type { Call } from '../call.ts'
import { refusedPage } from '../error-replies.ts'
import { requireHtml } from '../reading/negotiation.ts'

export function invitePage(
  status: number,
  html: SafeHtml,
  policy: Pick<PagePolicy, 'script' | 'connects'> = {},
): Answer {
  return page(status, html, { formAction: [], style: 'invite', ...policy })
}

/** Only internal errors go to the general handler. */
export async function withInvitePages(
  ports: Pick<AccountPorts, 'brand'>,
  call: Call,
  answer: () => Promise<Answer>,
): Promise<Answer> {
  requireHtml(call)
  try {
    return await answer()
  } catch (error) {
    if (!(error instanceof Failure) || !call.wantsHtml) throw error
    const { presentation, caller } = call
    const subject = subjectOf(error)
    const text = inviteErrorText(presentation, subject)
    const isUnknown = subject === 'INVALID_ENROLLMENT_TOKEN'
    const shown = { ...text, requestId: caller.requestId ?? '', isUnknown }
    return refusedInvite(ports, error, inviteMessagePage(presentation, shown))
  }
}

/** A page about a failure: a message, or the form again with what is wrong. */
export function refusedInvite(
  { brand }: Pick<AccountPorts, 'brand'>,
  failure: Failure,
  html: SafeHtml,
): Answer {
  return refusedPage(failure, brand, (status) => invitePage(status, html, { script: 'helpers' }))
}

function subjectOf({ code, detail, field }: Failure): string {
  // The other FORBIDDEN is a form from another site.
  if (code === 'FORBIDDEN' && detail === 'identity-disabled') return 'disabled'
  const isNoToken = code === 'COULD_NOT_VALIDATE' && field?.field === 'token'
  return isNoToken ? 'INVALID_ENROLLMENT_TOKEN' : code
}
