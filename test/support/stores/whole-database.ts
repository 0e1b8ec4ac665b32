/**
 * What is true of the database of a service at any moment, whatever happened to the service: nothing is there by halves,
 * and every change that stands has its one audit event. R109, R114. Looked at past the service.
 */
import assert from 'node:assert/strict'
import type { Service } from '../service.ts'
import { sql } from './sql.ts'

type Row = Record<string, unknown>

export interface StoredEvent {
  readonly type: string
  readonly identityId: string | undefined
  readonly sessionId: string | undefined
  readonly details: {
    readonly id?: string
    readonly changed?: readonly string[]
  }
}

/** Queries that find nothing. */
const NEVER: Readonly<Record<string, string>> = {
  'a session without its identity':
    'select id from api_sessions where identity_id not in (select id from identities)',
  'a session of somebody disabled': `select s.id from api_sessions s
    join identities i on i.id = s.identity_id where i.disabled_at is not null`,
  'a session begun with an authenticator that is gone': `select id from api_sessions
    where authenticator_id is not null and authenticator_id not in (select id from authenticators)`,
  'an authenticator without its identity':
    'select id from authenticators where identity_id not in (select id from identities)',
  'an enrollment without its identity':
    'select id from enrollments where identity_id not in (select id from identities)',
  'TOTP without its identity':
    'select id from totp_enrollments where identity_id not in (select id from identities)',
  'TOTP without its 20 recovery codes': `select t.identity_id from totp_enrollments t where 20 <>
    (select count(*) from recovery_codes c where c.identity_id = t.identity_id)`,
  'a refresh token without its session':
    'select hash from refresh_tokens where session_id not in (select id from api_sessions)',
  'a session with several refresh tokens that are good, or with spent ones alone': `select session_id
    from refresh_tokens group by session_id
    having sum(case when spent_at is null then 1 else 0 end) <> 1`,
  'a certificate without its session':
    'select id from session_certificates where session_id not in (select id from api_sessions)',
  'an ended session that is there':
    'select id from api_sessions where id in (select subject from session_endings)',
}

/** Fails for what is there by halves; answers the events. */
export async function assertWhole(
  database: Pick<Service, 'config'>,
): Promise<readonly StoredEvent[]> {
  const read = (statement: string) => sql(database, statement)
  for (const [what, query] of Object.entries(NEVER)) assert.deepEqual(await read(query), [], what)
  const events = (await read('select * from events')).map(eventOf)
  const ids = async (table: string) => (await read(`select id from ${table}`)).map(idOf)

  const deleted = new Set(of(events, 'identity.deleted').map(({ identityId }) => identityId))
  const goneWithIdentity = (event: StoredEvent) => deleted.has(event.identityId)
  assertStands('identity', {
    there: await ids('identities'),
    made: of(events, 'identity.created').map((event) => event.identityId),
    gone: of(events, 'identity.deleted').map((event) => event.identityId),
  })
  for (const [kind, rows] of [
    ['authenticator', 'authenticators'],
    ['enrollment', 'enrollments'],
  ] as const) {
    const made = of(events, `${kind}.created`)
    assertStands(kind, {
      there: await ids(rows),
      made: made.map(idInDetails),
      gone: of(events, `${kind}.deleted`).map(idInDetails),
      alsoGone: made.filter(goneWithIdentity).map(idInDetails),
    })
  }
  for (const [kind, table] of [
    ['policy', 'auth_policies'],
    ['external-jwt-signer', 'external_jwt_signers'],
  ] as const) {
    assertStands(kind, {
      // API 4.4: two are built in, and nobody made them.
      there: (await ids(table)).filter((id) => id !== 'default' && id !== 'production'),
      made: of(events, `${kind}.created`).map(idInDetails),
      gone: of(events, `${kind}.deleted`).map(idInDetails),
    })
  }

  const used = await read('select id from enrollments where used_at is not null')
  assertStands('used enrollment', {
    there: used.map(idOf),
    made: of(events, 'enrollment.used').map(idInDetails),
    gone: [],
    alsoGone: of(events, 'enrollment.used').filter(goneWithIdentity).map(idInDetails),
  })
  await assertSessions(read, events)
  return events
}

async function assertSessions(
  read: (statement: string) => Promise<Row[]>,
  events: readonly StoredEvent[],
): Promise<void> {
  const sessions = (await read('select id from api_sessions')).map(idOf)
  const ended = of(events, 'session.ended').map(({ sessionId }) => sessionId)
  assertStands('session', {
    there: sessions,
    made: of(events, 'token.issued').map(({ sessionId }) => sessionId),
    gone: ended,
  })
  const endings = new Set(
    (await read('select subject from session_endings')).map(({ subject }) => subject),
  )
  for (const id of ended) assert.ok(endings.has(id), 'every instance hears of an ended session')

  const issued = of(events, 'certificate.issued')
  assertStands('session certificate', {
    there: (await read('select id from session_certificates')).map(idOf),
    made: issued.map(idInDetails),
    gone: of(events, 'certificate.removed').map(idInDetails),
    alsoGone: issued.filter(({ sessionId }) => ended.includes(sessionId)).map(idInDetails),
  })

  const spent = await read(`select session_id, count(*) as n from refresh_tokens
    where spent_at is not null group by session_id`)
  const refreshes = Object.groupBy(of(events, 'token.refreshed'), (one) => one.sessionId ?? '')
  const counted = spent.map(({ session_id, n }) => [session_id, Number(n)])
  const expected = Object.entries(refreshes)
    .filter(([id]) => sessions.includes(id))
    .map(([id, of]) => [id, of?.length])
  assert.deepEqual(counted.toSorted(), expected.toSorted(), 'one event for each refresh')
}

type Ids = readonly (string | undefined)[]

/** What is there was made, by one event, and is not gone; and the other way round. */
function assertStands(
  kind: string,
  { there, made, gone, alsoGone = [] }: { there: Ids; made: Ids; gone: Ids; alsoGone?: Ids },
): void {
  assert.equal(new Set(made).size, made.length, `${kind}: one event for each that is made`)
  assert.equal(new Set(gone).size, gone.length, `${kind}: one event for each that is removed`)
  const over = new Set([...gone, ...alsoGone])
  const standing = made.filter((id) => !over.has(id))
  assert.deepEqual(
    there.toSorted(),
    standing.toSorted(),
    `${kind}: what is there, and what was made`,
  )
}

const idOf = ({ id }: Row) => String(id)
const of = (events: readonly StoredEvent[], type: string) =>
  events.filter((event) => event.type === type)
const idInDetails = ({ details }: StoredEvent) => details.id

function eventOf({ type, identity_id, session_id, details }: Row): StoredEvent {
  const text = (value: unknown) => (value === null ? undefined : String(value))
  return {
    type: String(type),
    identityId: text(identity_id),
    sessionId: text(session_id),
    details: JSON.parse(text(details) ?? '{}'),
  }
}
