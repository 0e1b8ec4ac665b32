/** Who has confirmed an end, the ledger of a session, routers: D-381, D-382, D-384. */
import { z } from 'zod'
import { detail, list, Timestamp } from '../envelope.ts'
import { EventLine } from './events.ts'

const Outcome = z
  .enum(['confirmed', 'elapsed', 'pending'])
  .describe(
    '`confirmed`: everyone has confirmed. `elapsed`: not everyone has, but the others have applied it or refuse every ' +
      'request by now. `pending`: someone may still accept what has ended.',
  )

const refusesAt = Timestamp.nullable().describe(
  'By then it has applied the end, or refuses every request. Null if it has confirmed.',
)

export const Confirmations = z.strictObject({
  outcome: Outcome,
  endedAt: Timestamp,
  certainAt: Timestamp.describe('By then no one accepts it any more, whether they confirm or not.'),
  routers: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string().nullable().describe('Null if the identity was deleted.'),
      state: z
        .enum(['confirmed', 'waiting', 'cut-off', 'does-not-confirm'])
        .describe('`does-not-confirm`: an older program, which never confirms.'),
      confirmedAt: Timestamp.nullable(),
      lastContactAt: Timestamp,
      refusesAt,
    }),
  ),
  instances: z.array(
    z.strictObject({
      id: z.string(),
      host: z.string(),
      state: z.enum(['confirmed', 'waiting']),
      confirmedAt: Timestamp.nullable(),
      refusesAt,
    }),
  ),
})
export type Confirmations = z.infer<typeof Confirmations>

export const ConfirmationsReply = detail(Confirmations)

/** For those who end their own sessions: no names. */
const ConfirmationCounts = z.strictObject({
  outcome: Outcome,
  endedAt: Timestamp,
  certainAt: Timestamp,
  confirmed: z.int().nonnegative(),
  unconfirmed: z.int().nonnegative(),
})
export const ConfirmationCountsReply = detail(ConfirmationCounts)

export const LedgerEntry = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('event'), at: Timestamp, event: EventLine }),
  z.strictObject({
    kind: z.literal('router-contact'),
    at: Timestamp.describe('When the router first admitted a connection of the session.'),
    routerId: z.string(),
    routerName: z.string().nullable(),
    lastAt: Timestamp.describe('When it last did, to within five minutes.'),
  }),
])
export type LedgerEntry = z.infer<typeof LedgerEntry>

export const Ledger = z.strictObject({
  sessionId: z.string(),
  identityId: z.string().nullable(),
  identityName: z.string().nullable(),
  isActive: z.boolean(),
  entries: z.array(LedgerEntry).describe('Oldest first.'),
  omitted: z.int().nonnegative().describe('Events after the first one that are left out.'),
  end: z
    .strictObject({
      tokensExpireAt: Timestamp.describe('After this, every access token has expired by itself.'),
      confirmations: Confirmations,
    })
    .nullable()
    .describe('Null while the session is active, and long after its end.'),
})
export type Ledger = z.infer<typeof Ledger>
export const LedgerReply = detail(Ledger)

export const Router = z.strictObject({
  id: z.string(),
  name: z.string(),
  hosts: z.array(z.string()),
  disabled: z.boolean(),
  isConnected: z.boolean(),
  confirms: z.boolean().nullable().describe('Null if it has never connected.'),
  lastContactAt: Timestamp.nullable(),
  connectedAt: Timestamp.nullable().describe('When the newest of its feeds was opened.'),
  programs: z.int().nonnegative().describe('How many running programs use this identity.'),
})
export type Router = z.infer<typeof Router>
export const RouterListReply = list(Router)
