/**
 * What was typed into a form whose login was too old (D-356), or whose session had ended or was replaced: it waits in a
 * sealed cookie of that browser until the administrator has signed in again, and then fills in the form, which is not
 * sent by itself. D-438, D-481, D-483.
 */
import { fromUtf8, utf8 } from '../../base/encoding.ts'
import { isJsonObject } from '../../base/json.ts'
import type { AccountPorts } from '../../domain/account/ports.ts'
import { OWNER_MARK } from '../own-site/form-checks.ts'
import type { SiteCall } from '../own-site/site-routes.ts'
import type { Fields } from '../reading/fields.ts'

export interface KeptInput {
  /** The address of the form, as its route was declared. */
  readonly form: string
  readonly fields: Fields
}

/** nginx refuses a response with more than 4 KiB of header fields, and the cookie is one of them (D-482). */
const LONGEST = 2_900

type Ports = Pick<AccountPorts, 'vault'>

/** Only for this administrator and this page. */
const contextOf = (owner: string, page: string) => `${owner} ${page}`

/** Undefined if it does not fit into a cookie. */
export function sealInput(
  { vault }: Ports,
  owner: string,
  { form, page, fields }: KeptInput & { readonly page: string },
): string | undefined {
  const typed = [...fields].filter(([name]) => name !== 'formToken')
  const bytes = utf8(JSON.stringify({ form, typed }))
  const sealed = vault.seal('console-input', bytes, contextOf(owner, page))
  return sealed.length <= LONGEST ? sealed : undefined
}

/** What waits for the page that is asked for. */
export function readInput(
  { vault }: Ports,
  { here, session }: Pick<SiteCall, 'here' | 'session'>,
  sealed: string | undefined,
): KeptInput | undefined {
  const context = contextOf(session.identityId, here)
  const bytes = sealed && vault.open('console-input', sealed, context)
  const kept: unknown = bytes && JSON.parse(fromUtf8(bytes) ?? 'null')
  if (!isJsonObject(kept)) return undefined
  const { form, typed } = kept as { form: string; typed: [string, readonly unknown[]][] }
  return { form, fields: new Map(typed) }
}

/** Adds the administrator who gets the form to its token, for when the session is over. D-483. */
export function withOwner(
  { vault }: Ports,
  { formToken, session }: Pick<SiteCall, 'formToken' | 'session'>,
): SiteCall['formToken'] {
  return (form) => {
    const owner = vault.seal('console-owner', utf8(session.identityId), form)
    return `${formToken(form)}${OWNER_MARK}${owner}`
  }
}

/** Returns the administrator who got this form from our page; undefined for every other form. */
export function ownerIn({ vault }: Ports, form: string, fields: Fields): string | undefined {
  const [token] = fields.get('formToken') ?? []
  const [, sealed] = typeof token === 'string' ? token.split(OWNER_MARK) : []
  const bytes = sealed && vault.open('console-owner', sealed, form)
  return bytes ? fromUtf8(bytes) : undefined
}
