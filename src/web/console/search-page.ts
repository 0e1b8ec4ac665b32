/** GET /console/search: everyone and everything that a text leads to. */
import { html, type SafeHtml } from '../login/html.ts'
import { identityTable, type ListedIdentity } from './identities/identities-page.ts'
import { type ConsoleFrame, consoleLayout } from './layout.ts'
import { explainPath, sessionPath } from './navigation.ts'
import { empty, section } from './parts.ts'

export interface SearchPage {
  readonly text: string
  readonly identities: readonly ListedIdentity[]
  readonly isMore: boolean
  readonly session: { readonly id: string; readonly isLive: boolean } | undefined
  readonly requestId: string | undefined
}

export function searchPage(frame: ConsoleFrame, page: SearchPage): SafeHtml {
  const { text, identities, isMore, session, requestId } = page
  const isNothing = identities.length === 0 && session === undefined && requestId === undefined
  return consoleLayout(frame, {
    title: 'Find anyone',
    searched: text,
    content: isNothing
      ? empty(
          text === '' ? 'What are you looking for?' : `Nothing found for “${text}”`,
          'Type part of a name or username, or a whole external ID, session ID, request ID or certificate fingerprint (SHA-256).',
        )
      : html`${
          session !== undefined &&
          section(
            session.isLive ? 'Live session' : 'Ended session',
            html`<p><a href="${sessionPath(session.id)}"><code>${session.id}</code></a></p>`,
          )
        }${
          requestId !== undefined &&
          section(
            'Request',
            html`<p><a href="${explainPath(requestId)}">Why was <code>${requestId}</code> refused?</a></p>`,
          )
        }${identities.length > 0 && identityTable(identities)}${isMore && html`<p class="hint">There are more. Type more of the name.</p>`}`,
  })
}
