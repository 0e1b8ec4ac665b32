/**
 * What was typed into a form while its login was too old (D-356): it waits in a sealed cookie of that browser until the
 * administrator has signed in again, and then fills in the form, which is not sent by itself. D-481.
 */
import { fromUtf8, utf8 } from '../../base/encoding.ts'
import { isJsonObject } from '../../base/json.ts'
import type { AccountPorts } from '../../domain/account/ports.ts'
import type { SiteCall } from '../own-site/site-routes.ts'
import type { Fields } from '../reading/fields.ts'

export interface KeptInput {
  /** The address of the form, as its route was declared. */
  readonly form: string
  readonly fields: Fields
}

/** Browsers drop a cookie of more than 4,096 bytes, with its name. */
const LONGEST = 3_900

type Ports = Pick<AccountPorts, 'vault'>
type Visit = Pick<SiteCall, 'here' | 'session'>

/** Only for this administrator and this page. */
const contextOf = ({ session }: Visit, page: string) => `${session.identityId} ${page}`

/** Undefined if it does not fit into a cookie. */
export function sealInput(
  { vault }: Ports,
  call: Visit,
  { form, page, fields }: KeptInput & { readonly page: string },
): string | undefined {
  const typed = [...fields].filter(([name]) => name !== 'formToken')
  const bytes = utf8(JSON.stringify({ form, typed }))
  const sealed = vault.seal('console-input', bytes, contextOf(call, page))
  return sealed.length <= LONGEST ? sealed : undefined
}

/** What waits for the page that is asked for. */
export function readInput(
  { vault }: Ports,
  call: Visit,
  sealed: string | undefined,
): KeptInput | undefined {
  const bytes = sealed && vault.open('console-input', sealed, contextOf(call, call.here))
  const kept: unknown = bytes && JSON.parse(fromUtf8(bytes) ?? 'null')
  if (!isJsonObject(kept)) return undefined
  const { form, typed } = kept as { form: string; typed: [string, readonly unknown[]][] }
  return { form, fields: new Map(typed) }
}
