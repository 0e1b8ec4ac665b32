/** Checks that our page sent a form, before anything in it is read. D-162. */
import type { AccountPorts } from '../../domain/account/ports.ts'
import { isFormToken } from '../../domain/account/session.ts'
import type { CallSession } from '../../domain/sessions/call-session.ts'
import { Failure } from '../../errors/catalogue.ts'
import { type Fields, textField } from '../reading/fields.ts'
import type { RequestHead } from '../reading/header-fields.ts'
import type { AtListener, Site } from './site.ts'

/** D-162: runs before the token check. Browsers send both fields with a form; a caller with neither has no cookies. */
export function refuseForeign(head: RequestHead, { addresses }: AtListener): void {
  const site = head.headers['sec-fetch-site']
  const { origin } = head.headers
  const isForeign =
    (site !== undefined && site !== 'same-origin') ||
    (origin !== undefined && origin !== addresses().baseUrlOf(head))
  if (isForeign) throw new Failure('FORBIDDEN', { detail: 'a form was posted from another site' })
}

/** After the token of a form, what a site adds to it (D-483). Not in base64url. */
export const OWNER_MARK = '.'

/** Returns the refusal of a form without a token of this session; undefined if it has one. */
export function forgeryIn(
  ports: AccountPorts,
  { name }: Pick<Site, 'name'>,
  session: CallSession,
  { form, fields }: { readonly form: string; readonly fields: Fields },
): Failure | undefined {
  const [given, ...others] = fields.get('formToken') ?? []
  const isOurs =
    typeof given === 'string' &&
    others.length === 0 &&
    isFormToken(ports, name, session, form, given.split(OWNER_MARK, 1)[0] ?? '')
  if (isOurs) return undefined
  return new Failure('FORBIDDEN', { detail: 'the form has no token of this session' })
}

export function refuseForged(...sent: Parameters<typeof forgeryIn>): void {
  const forgery = forgeryIn(...sent)
  if (forgery !== undefined) throw forgery
}

/** Longer than any value of such a field. */
const LONGEST_FIELD = 1024

export const fieldOf = (fields: Fields, name: string) => textField(fields, name, LONGEST_FIELD)
