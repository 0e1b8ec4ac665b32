/** What a form of the account pages must show before anything in it is looked at: that our page sent it. D-162. */
import type { AccountSessions } from '../../domain/account/session.ts'
import type { CallSession } from '../../domain/sessions/call-session.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { ListenerAddresses } from '../issuers.ts'
import { type Fields, textField } from '../reading/fields.ts'
import type { RequestHead } from '../reading/header-fields.ts'

/** D-162: before the token is looked at. Browsers send both fields with a form; what sends neither has no cookies. */
export function refuseForeign(
  head: RequestHead,
  { addresses }: { readonly addresses: () => ListenerAddresses },
): void {
  const site = head.headers['sec-fetch-site']
  const { origin } = head.headers
  const isForeign =
    (site !== undefined && site !== 'same-origin') ||
    (origin !== undefined && origin !== addresses().baseUrlOf(head))
  if (isForeign) throw new Failure('FORBIDDEN', { detail: 'a form was posted from another site' })
}

export function refuseForged(
  { accountSessions }: { readonly accountSessions: Pick<AccountSessions, 'isFormToken'> },
  session: CallSession,
  form: string,
  fields: Fields,
): void {
  const [given, ...others] = fields.get('formToken') ?? []
  const isOurs =
    typeof given === 'string' &&
    others.length === 0 &&
    accountSessions.isFormToken(session, form, given)
  if (!isOurs) throw new Failure('FORBIDDEN', { detail: 'the form has no token of this session' })
}

/** Longer than anything that such a field holds. */
const LONGEST_FIELD = 1024

export const fieldOf = (fields: Fields, name: string) => textField(fields, name, LONGEST_FIELD)
