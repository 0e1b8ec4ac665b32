/** /console/search: one box for names, usernames, ids of every kind and fingerprints (D-358). */
import { findAnyone } from '../../domain/management/finding/find-anyone.ts'
import {
  explainPath,
  identityPath,
  SEARCH_PATH,
  sessionPath,
} from '../../web/console/navigation.ts'
import { searchPage } from '../../web/console/search-page.ts'
import { redirect } from '../answer.ts'
import { type ConsoleRoutes, consolePage } from './console-route.ts'
import { shownIdentity } from './identities/shown-identity.ts'
import { queryText } from './list-page.ts'
import type { ConsolePorts } from './ports.ts'

const NOTHING = { identities: [], isMore: false, session: undefined, requestId: undefined } as const

export function addSearch(routes: ConsoleRoutes, ports: ConsolePorts): void {
  routes.answer(SEARCH_PATH, async (call) => {
    const text = queryText(call, 'q')
    const found = text === '' ? NOTHING : await findAnyone(ports, text)
    const { identities, session, requestId } = found
    // A single hit is what the administrator meant.
    const only = [
      ...(session === undefined ? [] : [sessionPath(session.id)]),
      ...(requestId === undefined ? [] : [explainPath(requestId)]),
      ...(session === undefined ? identities.map(({ identity }) => identityPath(identity.id)) : []),
    ]
    const [path, ...others] = only
    if (path !== undefined && others.length === 0) return redirect(path)
    const now = ports.clock.now()
    const shown = { ...found, identities: identities.map((one) => shownIdentity(one, now)) }
    return consolePage(200, searchPage(call.frame, { text, ...shown }))
  })
}
