/**
 * `GET /`: leads users to their account, administrators to the console, and programs to the version. D-340. Relative
 * addresses, so that nothing in the request decides where it leads.
 */
import type { AccountPorts } from '../../domain/account/ports.ts'
import { type Answer, redirect } from '../answer.ts'
import type { Call } from '../call.ts'
import type { ListenerParts } from '../listener-parts.ts'
import type { Router } from '../router.ts'
import { START_PATH } from '../router.ts'
import { SITE_ROUTE, type Site } from './site.ts'
import { visitorOf } from './visitor.ts'

const VERSION_PATH = '/version'

/** `account` and `console`: undefined if the listener does not have it. */
export function addStart(
  router: Router,
  ports: AccountPorts,
  listener: Pick<ListenerParts, 'addresses'>,
  sites: { readonly account: Site | undefined; readonly console: Site | undefined },
): void {
  router.add({ ...SITE_ROUTE, method: 'GET', url: START_PATH, replies: [302] }, async (call) =>
    leadTo(await pathFor(call)),
  )

  async function pathFor(call: Call): Promise<string> {
    const { account, console } = sites
    if (!call.wantsHtml || account === undefined) return VERSION_PATH
    if (console === undefined) return account.path
    if (console.cookies.session.read(call) !== undefined) return console.path
    return (await isAdministrator(call, account)) ? console.path : account.path
  }

  /** Only a browser with a cookie causes work here. */
  async function isAdministrator(call: Call, site: Site): Promise<boolean> {
    if (site.cookies.session.read(call) === undefined) return false
    const visitor = await visitorOf({ site, ports, listener }, call)
    return visitor.kind === 'known' && visitor.session.isAdmin
  }
}

function leadTo(path: string): Answer {
  return redirect(path, { vary: 'Accept, Cookie' })
}
