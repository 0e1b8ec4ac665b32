/** Common to the forms of these pages: where they come from, and the token that they carry. */
import { Secret } from '../../base/secrets/secret.ts'
import type { AccountPorts } from '../../domain/account/ports.ts'
import type { EnrollmentPorts } from '../../domain/enrollments/ports.ts'
import type { Answer } from '../answer.ts'
import type { Call } from '../call.ts'
import type { ListenerParts } from '../listener-parts.ts'
import { refuseForeign } from '../own-site/form-checks.ts'
import { SITE_ROUTE } from '../own-site/site.ts'
import { bodyFields } from '../reading/body.ts'
import { type Fields, textField } from '../reading/fields.ts'
import type { Router } from '../router.ts'
import { withInvitePages } from './answers.ts'

export type InvitePorts = AccountPorts & EnrollmentPorts
export type InviteListener = Pick<
  ListenerParts,
  'addresses' | 'serverCasPem' | 'counters' | 'relyingParty'
>

/** Adds a form: `answer` gets it only if one of our pages sent it (D-162). */
export type Submit = (url: string, answer: (call: Call, fields: Fields) => Promise<Answer>) => void

export function inviteForms(router: Router, ports: InvitePorts, listener: InviteListener): Submit {
  return (url, answer) =>
    router.add(
      {
        ...SITE_ROUTE,
        method: 'POST',
        url,
        reads: ['form'],
        replies: [200, 302, 303, 403, 406, 409, 429],
      },
      (call) =>
        withInvitePages(ports, call, async () => {
          refuseForeign(call, listener)
          return answer(call, bodyFields(call.body))
        }),
    )
}

/** Longer than any of our links. */
const LONGEST_TOKEN = 4096

/** People paste the whole link as well as the code at its end. */
export function tokenOf(fields: Fields): Secret {
  const given = textField(fields, 'token', LONGEST_TOKEN).trim()
  return new Secret(given.slice(given.lastIndexOf('#') + 1))
}
