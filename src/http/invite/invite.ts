/**
 * /invite and everything below it: the page of an invitation or a reset (D-376). Anyone may call: the token in the body
 * is the credential. Opening spends nothing. Every POST must come from one of our pages, so that another site cannot
 * sign a visitor in to an account of its choice.
 */

import type { Secret } from '../../base/secrets/secret.ts'
import {
  invitationJwt,
  type OpenedInvitation,
  openInvitation,
} from '../../domain/enrollments/links/open-invitation.ts'
import { needsPassword } from '../../domain/enrollments/links/reset-mfa.ts'
import { codePage } from '../../web/invite/code-page.ts'
import { certificatePage, identityFilePage } from '../../web/invite/identity-file-page.ts'
import { INVITE_PATHS } from '../../web/invite/layout.ts'
import { mfaPage } from '../../web/invite/mfa-page.ts'
import { passwordPage } from '../../web/invite/password-page.ts'
import { MAKE_IDENTITY_FILE_SOURCE } from '../../web/invite/scripts/make-identity-file.ts'
import { OPEN_LINK_SOURCE } from '../../web/invite/scripts/open-link.ts'
import { type Answer, text } from '../answer.ts'
import type { Call } from '../call.ts'
import { SITE_ROUTE } from '../own-site/site.ts'
import type { Router } from '../router.ts'
import { invitePage, withInvitePages } from './answers.ts'
import { addInvitedCertificate } from './certificate.ts'
import { type InviteListener, type InvitePorts, inviteForms, tokenOf } from './form-route.ts'
import { addMfaReset } from './mfa.ts'
import { addInvitedPassword, passwordForm } from './password.ts'

export function addInvite(router: Router, ports: InvitePorts, listener: InviteListener): void {
  router.add(
    { ...SITE_ROUTE, method: 'GET', url: INVITE_PATHS.open, replies: [200, 406] },
    (call) =>
      withInvitePages(ports, call, async () =>
        invitePage(200, codePage(call.presentation), { script: OPEN_LINK_SOURCE }),
      ),
  )

  const submit = inviteForms(router, ports, listener)
  submit(INVITE_PATHS.open, async (call, fields) => {
    const token = tokenOf(fields)
    const opened = await openInvitation(ports, token, call.caller)
    return pageFor(call, opened, token)
  })

  submit(INVITE_PATHS.jwt, async (call, fields) => {
    const jwt = await invitationJwt(ports, tokenOf(fields), call.caller)
    return text('application/jwt', `${jwt.reveal()}\n`, {
      'content-disposition': 'attachment; filename="invitation.jwt"',
    })
  })

  addInvitedPassword(submit, ports, listener)
  addMfaReset(submit, ports, listener)
  addInvitedCertificate(router, ports, listener)

  function pageFor(call: Call, opened: OpenedInvitation, secret: Secret): Answer {
    const { presentation } = call
    const { id: identityId, name } = opened.identity
    const token = secret.reveal()
    switch (opened.enrollment.method) {
      case 'updb':
      case 'reset-password': {
        const form = passwordForm(opened, { token: secret, call, listener })
        return invitePage(200, passwordPage(presentation, form), { script: 'helpers' })
      }
      case 'reset-mfa': {
        const username = needsPassword(opened) ? opened.username : undefined
        const html = mfaPage(presentation, { token, name, username })
        return invitePage(200, html, { script: 'helpers' })
      }
      case 'ott': {
        const policy = { script: MAKE_IDENTITY_FILE_SOURCE, connects: true } as const
        const html = identityFilePage(presentation, { token, name, identityId })
        return invitePage(200, html, policy)
      }
      case 'ottca':
        return invitePage(200, certificatePage(presentation, { token, name }))
    }
  }
}
