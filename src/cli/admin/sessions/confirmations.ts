/** Waits until routers and instances have confirmed an end, and shows which have: D-381, D-382. */
import { systemClock } from '../../../base/time/clock.ts'
import { type EdgeApi, pathOf } from '../../api/edge-api.ts'
import { Misuse } from '../../terminal/io.ts'
import type { Column } from '../../terminal/output.ts'
import { plain, table } from '../../terminal/output.ts'
import { cellsOf, type Row } from '../entities/columns.ts'

export interface WaitValues {
  readonly wait?: string
}

/** Who has confirmed what one call ended. */
export interface Proof {
  readonly confirmations: Row | null
  readonly lines: readonly string[]
  readonly isConfirmed: boolean
}

const LONGEST = 60
/** As long as the server waits for callers without a credential. */
const LONGEST_WITHOUT_SESSION = 10

const NOTHING: Proof = {
  confirmations: null,
  lines: ['Nothing had to be confirmed.'],
  isConfirmed: true,
}

/** Undefined if the user does not want to wait. Throws Misuse. */
export function secondsOf({ wait }: WaitValues): number | undefined {
  if (wait === undefined) return undefined
  if (!/^\d{1,2}$/.test(wait) || Number(wait) > LONGEST) {
    throw new Misuse(`--wait must be a number of seconds from 0 to ${LONGEST} (got "${wait}")`)
  }
  return Number(wait)
}

/** For what was ended since the last call. */
export async function askForProof(
  api: Pick<EdgeApi, 'takeEnding' | 'get'>,
  seconds: number,
): Promise<Proof> {
  const id = api.takeEnding()
  if (id === undefined) return NOTHING
  const confirmations = await api.get(`${pathOf('/endings', id)}?wait=${seconds}`)
  const isConfirmed = confirmations['outcome'] === 'confirmed'
  return { confirmations, lines: confirmationLines(confirmations), isConfirmed }
}

/**
 * The same where the caller's own session has ended too: without a credential the server says only how many have
 * confirmed, and waits for ten seconds at most, so it is asked again.
 */
export async function askWithoutSession(
  anonymous: Pick<EdgeApi, 'get'>,
  id: string | undefined,
  seconds: number,
): Promise<Proof> {
  if (id === undefined) return NOTHING
  const until = systemClock.uptime() + seconds * 1_000
  for (;;) {
    const left = Math.max(0, Math.ceil((until - systemClock.uptime()) / 1_000))
    const wait = Math.min(left, LONGEST_WITHOUT_SESSION)
    const confirmations = await anonymous.get(`${pathOf('/endings', id)}?wait=${wait}`)
    const { outcome, confirmed, unconfirmed, certainAt } = confirmations
    if (outcome === 'pending' && left > LONGEST_WITHOUT_SESSION) continue
    const all = Number(confirmed) + Number(unconfirmed)
    const sentence = `Confirmed by ${confirmed} of ${all} routers and instances.`
    const rest = `The others refuse everything by ${certainAt} at the latest.`
    const lines = unconfirmed === 0 ? [sentence] : [sentence, rest]
    return { confirmations, lines: lines.map(plain), isConfirmed: outcome === 'confirmed' }
  }
}

/** A sentence, and a table of those that have not confirmed. */
export function confirmationLines(confirmations: Row): readonly string[] {
  const routers = rowsIn(confirmations['routers'])
  const instances = rowsIn(confirmations['instances'])
  const all = [
    ...routers.map((row) => ({ what: 'router', row, name: row['name'] ?? row['id'] })),
    ...instances.map((row) => ({ what: 'instance', row, name: row['host'] ?? row['id'] })),
  ]
  const open = all.filter(({ row }) => row['state'] !== 'confirmed')
  const count = (rows: readonly Row[], one: string) => {
    const confirmed = rows.filter((row) => row['state'] === 'confirmed').length
    return `${confirmed} of ${rows.length} ${one}${rows.length === 1 ? '' : 's'}`
  }
  const sentence = `Confirmed by ${count(routers, 'router')} and ${count(instances, 'instance')}.`
  if (open.length === 0) return [sentence]
  const columns: readonly Column<(typeof open)[number]>[] = [
    { title: 'NOT CONFIRMED', value: ({ what, name }) => `${what} ${name}` },
    { title: 'STATE', value: ({ row }) => String(row['state']) },
    { title: 'LAST CONTACT', value: ({ row }) => timeIn(row, 'lastContactAt') },
    { title: 'REFUSES EVERYTHING BY', value: ({ row }) => timeIn(row, 'refusesAt') },
  ]
  const last =
    confirmations['outcome'] === 'elapsed'
      ? [
          'That time is over: those that have not confirmed have applied it, or refuse every request.',
        ]
      : []
  return [sentence, ...table(open, columns), ...last].map(plain)
}

function timeIn(row: Row, path: string): string {
  return cellsOf([{ title: '', path, as: 'time' }], row)[0] ?? ''
}

function rowsIn(value: unknown): readonly Row[] {
  return Array.isArray(value) ? (value as readonly Row[]) : []
}
