/**
 * /endings, /routers and the ledger of a session, on the management API; /endings on the client API, without
 * names. D-382, D-384.
 */
import { type Duration, seconds } from '../../base/time/duration.ts'
import { toRfc3339 } from '../../base/time/instant.ts'
import {
  ConfirmationCountsReply,
  ConfirmationsReply,
  type Ledger,
  type LedgerEntry,
  LedgerReply,
  type Router,
  RouterListReply,
} from '../../contract/management/confirmations.ts'
import { NO_FIELDS } from '../../domain/lists/fields.ts'
import { invalid, orNotFound } from '../../domain/refusals.ts'
import * as confirming from '../../domain/sessions/confirming/confirmations.ts'
import { readEndingId } from '../../domain/sessions/confirming/ending-id.ts'
import { listRouters, type RouterDetail } from '../../domain/sessions/confirming/list-routers.ts'
import * as ledger from '../../domain/sessions/confirming/session-ledger.ts'
import type { SessionPorts } from '../../domain/sessions/ports.ts'
import { found, idIn, listed, timeOrNull } from '../edge-api/answers.ts'
import type { Api } from '../edge-api/api.ts'
import { countConfirmed, createAwaiting } from '../own-site/ending-proof.ts'
import { eventLine } from './events.ts'
import { showConfirmations } from './shown-confirmations.ts'

type Ports = Pick<SessionPorts, 'vault'> & ledger.LedgerPorts

const WAIT = {
  wait: 'Seconds to wait at most until everyone has confirmed, up to 60; default: do not wait.',
}
const MOST_WAITING = 64
/** For calls without credentials. */
const OPEN_WAIT: Duration = seconds(10)

export function addConfirmations(api: Api, ports: Ports): void {
  const read = createReading(ports, confirming.LONGEST_WAIT)
  api.add(
    {
      method: 'GET',
      path: '/endings/:id',
      access: 'admin',
      summary: 'Read which routers and instances have confirmed an end',
      description:
        'The id is in the header `latchkey-ending` of the response to the call that ended sessions, removed a ' +
        'certificate or withdrew a key. It stays valid until a backup is restored.',
      query: WAIT,
      answers: { 200: ConfirmationsReply },
    },
    async ({ path, query }) => found(showConfirmations(await read(path.id, query))),
  )

  api.add(
    {
      method: 'GET',
      path: '/api-sessions/:id/ledger',
      access: 'admin',
      summary: 'Read everything that happened to a session',
      description:
        'Login, refreshes, certificates, the routers that admitted it, its end, and who has confirmed that. Also for ' +
        'sessions that have ended, as long as the audit log has their events.',
      answers: { 200: LedgerReply },
    },
    async ({ path }) => found(showLedger(await ledger.sessionLedger(ports, idIn(path)))),
  )

  api.add(
    {
      method: 'GET',
      path: '/routers',
      access: 'admin',
      summary: 'List edge routers, with the time of their last contact',
      list: NO_FIELDS,
      answers: { 200: RouterListReply },
    },
    async ({ list }) => listed(NO_FIELDS, list, await listRouters(ports, list), showRouter),
  )
}

/** The id alone gives access: the session that it belonged to has usually ended. */
export function addOwnConfirmations(api: Api, ports: Ports): void {
  const read = createReading(ports, OPEN_WAIT)
  api.add(
    {
      method: 'GET',
      path: '/endings/:id',
      access: 'public',
      summary: 'Read how many routers and instances have confirmed an end',
      description:
        'The id is in the header `latchkey-ending` of the response to the call that ended it, such as a logout. No ' +
        'other credential is needed: the session has usually ended.',
      query: WAIT,
      answers: { 200: ConfirmationCountsReply },
    },
    async ({ path, query }) => {
      const state = await read(path.id, query)
      const { confirmed, all } = countConfirmed(state)
      return found({
        outcome: state.outcome,
        endedAt: toRfc3339(state.endedAt),
        certainAt: toRfc3339(state.certainAt),
        confirmed,
        unconfirmed: all - confirmed,
      })
    },
  )
}

type ReadConfirmations = (
  id: string,
  query: ReadonlyMap<'wait', readonly string[]>,
) => Promise<confirming.Confirmations>

function createReading(ports: Ports, longest: Duration): ReadConfirmations {
  const awaitSome = createAwaiting(ports, MOST_WAITING)
  return async (id, query) => {
    const thing = orNotFound(readEndingId(ports.vault, id))
    const wanted = readWait(query)
    if (wanted === 0) return confirming.readConfirmations(ports, thing)
    return awaitSome(thing, seconds(Math.min(wanted, longest / 1_000)))
  }
}

function readWait(query: ReadonlyMap<'wait', readonly string[]>): number {
  const [text, ...others] = query.get('wait') ?? []
  if (others.length > 0) throw invalid('wait', 'is repeated')
  if (text === undefined) return 0
  if (!/^\d{1,2}$/.test(text) || Number(text) > 60) throw invalid('wait', 'must be 0 to 60')
  return Number(text)
}

function showLedger(all: ledger.SessionLedger): Ledger {
  return {
    sessionId: all.sessionId,
    identityId: all.identityId ?? null,
    identityName: all.identityName ?? null,
    isActive: all.session !== undefined,
    entries: all.entries.map(showEntry),
    omitted: all.omitted,
    end:
      all.end === undefined
        ? null
        : {
            tokensExpireAt: toRfc3339(all.end.tokensExpireAt),
            confirmations: showConfirmations(all.end.confirmations),
          },
  }
}

function showEntry(entry: ledger.LedgerEntry): LedgerEntry {
  const at = toRfc3339(entry.at)
  if (entry.kind === 'event') return { kind: 'event', at, event: eventLine(entry.event) }
  const { kind, routerId, routerName, lastAt } = entry
  return { kind, at, routerId, routerName: routerName ?? null, lastAt: toRfc3339(lastAt) }
}

function showRouter(router: RouterDetail): Router {
  return {
    id: router.id,
    name: router.name,
    hosts: [...router.hosts],
    disabled: router.isDisabled,
    isConnected: router.isConnected,
    confirms: router.confirms ?? null,
    lastContactAt: timeOrNull(router.contactAt),
    connectedAt: timeOrNull(router.connectedAt),
    programs: router.programs,
  }
}
