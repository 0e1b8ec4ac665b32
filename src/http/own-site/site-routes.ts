/**
 * Common to every page of our own sites and every form on them: a cookie instead of a header, a login instead of a
 * challenge, and pages instead of JSON. D-161, D-162. GETs change nothing; a form proves that our page sent it.
 */
import type { IdentityId } from '../../base/ids.ts'
import { formToken } from '../../domain/account/session.ts'
import type { Caller } from '../../domain/audit/events.ts'
import type { CallSession } from '../../domain/sessions/call-session.ts'
import { readEndingId, writeEndingId } from '../../domain/sessions/confirming/ending-id.ts'
import { currentIdentity, type IdentityDetail } from '../../domain/sessions/current-session.ts'
import type { FormToken } from '../../web/account/layout.ts'
import type { ShownEnd } from '../../web/login/pages/shown-end.ts'
import type { Presentation } from '../../web/login/presentation.ts'
import { type Answer, withCookies } from '../answer.ts'
import type { Call } from '../call.ts'
import { bodyFields } from '../reading/body.ts'
import type { Fields } from '../reading/fields.ts'
import type { Router } from '../router.ts'
import { createReadEnd } from './ending-proof.ts'
import { forgeryIn, refuseForeign } from './form-checks.ts'
import { SITE_ROUTE, seeNote } from './site.ts'
import { isUnauthorized, type SiteAt, toLogin, turnAway, visitorOf, withPages } from './visitor.ts'

/** The user that the page belongs to. */
export interface SiteCall extends IdentityDetail {
  readonly head: Pick<Call, 'headers' | 'rawHeaders' | 'query' | 'path' | 'method'>
  readonly presentation: Presentation
  readonly session: CallSession
  readonly caller: Caller
  readonly formToken: FormToken
  /** The notice that the browser kept; a form gets none. */
  readonly note: string | undefined
  /** How far the end has got of what the last form ended (D-363). */
  readonly end: ShownEnd | undefined
  /** The address of the page: its path and query. For a form, that of the page that has it. */
  readonly here: string
}

export interface SiteForm {
  /** The target of the form; may have parameters. */
  readonly url: string
  /** The page that has the form; its parameters are those of `url`. */
  readonly page: string
  /**
   * Returns the cookies for a form that was sent without a session, or in a later session than that of its page. Only
   * its origin was checked.
   */
  readonly outside?: (form: OutsideForm) => readonly string[]
}

export interface OutsideForm {
  /** The address of the form. */
  readonly form: string
  readonly fields: Fields
  /** The page that has it. */
  readonly page: string
  /** Who is signed in; undefined if nobody is. */
  readonly sender: IdentityId | undefined
}

export interface SiteRoutes {
  /** GET of a page. */
  show(url: string, content: (call: SiteCall) => Promise<Answer>): void
  /** The answer of such a page, for a route of its own: a visitor without a session signs in, and returns to `here`. */
  showTo(call: Call, here: string, content: (call: SiteCall) => Promise<Answer>): Promise<Answer>
  /** POST of a form. */
  submit(form: SiteForm, apply: (call: SiteCall, fields: Fields) => Promise<Answer>): void
}

export function siteRoutes(router: Router, at: SiteAt): SiteRoutes {
  const { site, ports, listener } = at
  const { cookies } = site
  const readEnd = createReadEnd(ports)

  async function callOf(call: Call, session: CallSession, here: string): Promise<SiteCall> {
    const ending = call.method === 'POST' ? undefined : cookies.ending.read(call)
    call.isFrom(session)
    return {
      ...(await currentIdentity(ports, session)),
      head: call,
      presentation: call.presentation,
      session,
      caller: { ...call.caller, actorId: session.identityId },
      formToken: (path) => formToken(ports, site.name, session, path),
      note: call.method === 'POST' ? undefined : cookies.note.read(call),
      end: ending === undefined ? undefined : await readEnd(readEndingId(ports.vault, ending)),
      here,
    }
  }

  async function showTo(
    call: Call,
    here: string,
    content: (call: SiteCall) => Promise<Answer>,
  ): Promise<Answer> {
    try {
      const visitor = await visitorOf(at, call)
      if (visitor.kind === 'stranger') {
        return { ...toLogin(at, call, here), failure: visitor.failure }
      }
      if (visitor.kind !== 'known') return await turnAway(at, call, visitor)
      const shown = await callOf(call, visitor.session, here)
      const answer = await content(shown)
      return withCookies(answer, [
        ...(shown.note === undefined ? [] : [cookies.note.clear()]),
        // Until then the page can be reloaded to look again.
        ...(shown.end === undefined || shown.end.outcome === 'pending'
          ? []
          : [cookies.ending.clear()]),
      ])
    } catch (error) {
      // Another call ended the session while the page was being rendered.
      if (!isUnauthorized(error)) throw error
      return toLogin(at, call, here)
    }
  }

  return {
    showTo,

    show(url, content) {
      router.add(
        { ...SITE_ROUTE, method: 'GET', url, replies: [200, 204, 302, 403, 406] },
        (call) =>
          withPages(at, call, async () => {
            const here = `${filledIn(url, call.path)}${queryOf(call)}`
            return showTo(call, here, content)
          }),
      )
    },

    submit({ url, page, outside: keep }, apply) {
      router.add(
        {
          ...SITE_ROUTE,
          method: 'POST',
          url,
          reads: ['form'],
          replies: [200, 303, 403, 406, 409, 429],
        },
        (call) => {
          const back = filledIn(page, call.path)
          const form = filledIn(url, call.path)
          const inputCookies = (sender?: IdentityId) =>
            keep?.({ form, fields: bodyFields(call.body), page: back, sender }) ?? []
          const toPage = (set: readonly string[]) =>
            withCookies(seeNote(site, back, 'signed-in-again'), set)
          const outside = () => toPage([cookies.session.clear(), ...inputCookies()])
          const change = async () => {
            refuseForeign(call, listener)
            try {
              const visitor = await visitorOf(at, call)
              if (visitor.kind === 'stranger') return { ...outside(), failure: visitor.failure }
              if (visitor.kind !== 'known') return await turnAway(at, call, visitor)
              const { session } = visitor
              const fields = bodyFields(call.body)
              const forged = forgeryIn(ports, site, session, { form, fields })
              if (forged !== undefined) {
                const set = inputCookies(session.identityId)
                if (set.length === 0) throw forged
                // The form belongs to an earlier session of the same user (D-438).
                return { ...toPage(set), failure: forged }
              }
              const own = await callOf(call, session, back)
              const { result, ended } = await ports.collectedEndings.collect(() =>
                apply(own, fields),
              )
              if (ended === undefined) return result
              return withCookies(result, [cookies.ending.keep(writeEndingId(ports.vault, ended))])
            } catch (error) {
              if (!isUnauthorized(error)) throw error
              return outside()
            }
          }
          // The page of something that is gone is gone too: the list that it was in is not.
          const list = page.split('/:', 1)[0] ?? back
          return withPages(at, call, change, ({ code }) => (code === 'NOT_FOUND' ? list : back))
        },
      )
    },
  }
}

/** Puts parameters into a path: `/console/identities/:id`. */
export function filledIn(url: string, path: Readonly<Record<string, string>>): string {
  return url.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(path[name] ?? ''))
}

function queryOf({ query }: Pick<Call, 'query'>): string {
  const pairs = [...query].flatMap(([name, values]) => values.map((value) => [name, value]))
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}
