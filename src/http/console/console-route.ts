/**
 * The console as one of our own sites, for administrators alone: how a screen and a change are declared. D-355, D-356.
 * Every change calls the use case that the management API calls, with the administrator as the actor.
 */
import type { AccountPorts } from '../../domain/account/ports.ts'
import { isFreshLogin } from '../../domain/account/session.ts'
import type { Failure } from '../../errors/catalogue.ts'
import type { ConsoleFrame } from '../../web/console/layout.ts'
import {
  consoleBlockedPage,
  consoleFailurePage,
  consoleSignedOutPage,
  notAdministratorPage,
} from '../../web/console/message-pages.ts'
import {
  CONSOLE_CONFIRM_PATH,
  CONSOLE_PATH,
  CONSOLE_SIGN_OUT_PATH,
} from '../../web/console/navigation.ts'
import { type ConsoleNote, consoleNoteNamed } from '../../web/console/notes.ts'
import type { SafeHtml } from '../../web/login/html.ts'
import { type Answer, page, withCookies } from '../answer.ts'
import { addDoors } from '../own-site/doors.ts'
import { type AtListener, seeNote, siteOf } from '../own-site/site.ts'
import {
  filledIn,
  type OutsideForm,
  type SiteCall,
  type SiteForm,
  siteRoutes,
} from '../own-site/site-routes.ts'
import type { Fields } from '../reading/fields.ts'
import type { Router } from '../router.ts'
import { ownerIn, readInput, sealInput, withOwner } from './kept-input.ts'
import { refusalText } from './refusal-text.ts'

export const CONSOLE_SITE = siteOf({
  name: 'console',
  path: CONSOLE_PATH,
  signOutPath: CONSOLE_SIGN_OUT_PATH,
  confirmPath: CONSOLE_CONFIRM_PATH,
  pageAt: consolePageAt,
  restriction: {
    admits: ({ isAdmin }) => isAdmin,
    refused: ({ identity }, formToken) => notAdministratorPage(identity.name, formToken),
  },
  page: consolePage,
  signedOut: consoleSignedOutPage,
  blocked: (_, formToken) => consoleBlockedPage(formToken),
  failure: (_, error, shown) => consoleFailurePage({ ...textOf(error), ...shown }),
})

/** A page of the console, whose scripts and style come from our own address. */
export function consolePage(status: number, html: SafeHtml): Answer {
  return page(status, html, { formAction: [], assets: 'own' })
}

/** The longest address to return to after a login; it travels in a cookie. */
const LONGEST_PAGE = 512

/** Only paths below /console, in the form in which we write them: a link could ask for anything. */
function consolePageAt(asked: string): string | undefined {
  const isOurs = /^\/console(?:\/[\w.~%-]+)*(?:\?[\w.~%&=+*-]*)?$/.test(asked)
  return isOurs && asked.length <= LONGEST_PAGE ? asked : undefined
}

/** The administrator, and the frame of the page. */
export interface ConsoleCall extends SiteCall {
  readonly frame: ConsoleFrame
}

export interface ConsoleForm extends SiteForm {
  /**
   * By default the administrator must have signed in within the last minutes (D-356). `session`: for what changes
   * nothing, such as a dry run.
   */
  readonly needs?: 'session'
  /** Shows the page of the form with what these fields have, so that a new login does not lose it (D-481, D-483). */
  readonly again?: (call: ConsoleCall, fields: Fields) => Promise<SafeHtml>
}

export interface ConsoleRoutes {
  /** GET of a screen. */
  show(url: string, content: (call: ConsoleCall) => Promise<SafeHtml>): void
  /** GET of anything else that only administrators may read, such as a download. */
  answer(url: string, content: (call: ConsoleCall) => Promise<Answer>): void
  /** POST of a form. */
  act(form: ConsoleForm, change: (call: ConsoleCall, fields: Fields) => Promise<Answer>): void
}

/** Also adds the routes for signing in to the console and out of it. */
export function consoleRoutes(
  router: Router,
  ports: AccountPorts,
  listener: AtListener,
): ConsoleRoutes {
  const at = { site: CONSOLE_SITE, ports, listener }
  const { cookies } = CONSOLE_SITE
  const routes = siteRoutes(router, at)
  addDoors(router, at)

  async function framed(call: SiteCall): Promise<ConsoleCall> {
    const { identity, here, session, end } = call
    const formToken = withOwner(ports, call)
    const isFresh = await isFreshLogin(ports, session)
    const note = consoleNoteNamed(call.note)
    return { ...call, frame: { name: identity.name, formToken, note, end, isFresh, here } }
  }

  /** By the address of the form. */
  const forms = new Map<string, ConsoleForm['again']>()

  return {
    show(url, content) {
      routes.show(url, async (call) => {
        const framedCall = await framed(call)
        const kept = readInput(ports, call, cookies.input.read(call.head))
        const again = kept && forms.get(kept.form)
        if (kept === undefined || again === undefined)
          return consolePage(200, await content(framedCall))
        const { frame } = framedCall
        const shown = await again(
          { ...framedCall, frame: { ...frame, note: noteWithInput(frame) } },
          kept.fields,
        )
        const answer = consolePage(200, shown)
        // Until then it must survive the login.
        return frame.isFresh ? withCookies(answer, [cookies.input.clear()]) : answer
      })
    },
    answer(url, content) {
      routes.show(url, async (call) => content(await framed(call)))
    },
    act({ url, page: at, needs, again }, change) {
      if (again !== undefined) forms.set(url, again)
      const keep = (owner: string | undefined, page: string, fields: Fields) => {
        const input = again && owner && sealInput(ports, owner, { form: url, page, fields })
        return input ? [cookies.input.keep(input)] : []
      }
      const outside = ({ form, fields, page, sender }: OutsideForm) => {
        const owner = ownerIn(ports, form, fields)
        return sender === undefined || sender === owner ? keep(owner, page, fields) : []
      }
      routes.submit({ url, page: at, outside }, async (call, fields) => {
        const framedCall = await framed(call)
        if (needs === 'session' || framedCall.frame.isFresh) return change(framedCall, fields)
        const page = filledIn(at, call.head.path)
        // The page says that it has the input if it came back: the browser may have no room for it (D-482).
        return withCookies(
          backTo(page, 'confirm-first'),
          keep(call.session.identityId, page, fields),
        )
      })
    },
  }
}

/** Redirects to a page of the console that shows a notice. */
export function backTo(path: string, note: ConsoleNote): Answer {
  return seeNote(CONSOLE_SITE, path, note)
}

/** Notes that the one about the input replaces. */
const BEFORE_INPUT: readonly ConsoleNote[] = ['confirmed', 'confirm-first', 'signed-in-again']

/** On every visit, or what was typed a while ago would look like what is stored. */
function noteWithInput({ note, isFresh }: ConsoleFrame): ConsoleNote {
  if (note !== undefined && !BEFORE_INPUT.includes(note)) return note
  return isFresh ? 'confirmed-with-input' : 'confirm-with-input'
}

/** Administrators learn the reason, as from the management API. */
function textOf(error: Failure): { title: string; message: string } {
  const { code } = error
  if (code === 'NOT_FOUND') {
    return { title: 'Not found', message: 'This does not exist, or no longer does.' }
  }
  if (code === 'FORBIDDEN') {
    const message =
      'The form was out of date, or did not come from this page. Go back and try again.'
    return { title: 'Nothing was changed', message }
  }
  return { title: 'That did not work', message: refusalText(error) }
}
