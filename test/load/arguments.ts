/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util'
import {
  type CpuOperation,
  isCpuOperation,
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
} from './operations.ts'

export interface BenchOptions {
  readonly operations: readonly OperationName[]
  /** Instead of the table: a CPU profile of this operation. */
  readonly profile: CpuOperation | undefined
  readonly isSaved: boolean
  /** Latchkey on a PostgreSQL instead of SQLite. */
  readonly isPostgres: boolean
  readonly isLists: boolean
  readonly isHelp: boolean
  /** How often each operation is measured. */
  readonly rounds: number
  /** How long each measurement takes. */
  readonly milliseconds: number
}

export const USAGE = `npm run bench [-- OPTION …]

Starts Latchkey and node-oidc-provider on this machine, measures both in turn, and prints a table.
Takes about five minutes. It needs no network, and the openssl command.

  --only OPERATION      measure only this; may be repeated
  --big                 also measure a store with 1,000,000 identities and sessions: two minutes more, 2 GB of disk
  --rounds N            how often each operation is measured (default 3)
  --seconds N           how long each measurement takes (default 3)
  --postgres            run Latchkey on a PostgreSQL, whose CPU is listed beside its own
  --save                write the table to docs/performance.md
  --profile OPERATION   instead, write a CPU profile of the server under this operation, and print its top list
  --lists               instead, measure the pages of lists with 100,000 rows on both databases
  --help

Operations: ${OPERATION_NAMES.join(', ')}`

/** Throws an Error with a sentence for the user. */
export function readArguments(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    allowPositionals: false,
    options: {
      only: { type: 'string', multiple: true, default: [] },
      big: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '3' },
      save: { type: 'boolean', default: false },
      postgres: { type: 'boolean', default: false },
      profile: { type: 'string' },
      lists: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const only = values.only.map(readOperation)
  const isInstead = values.lists || values.profile !== undefined
  if (values.lists && values.profile !== undefined) {
    throw new Error('--lists and --profile cannot be combined')
  }
  if (isInstead && (values.save || values.big || only.length > 0)) {
    const option = values.lists ? '--lists' : '--profile'
    throw new Error(`${option} cannot be combined with --save, --big or --only`)
  }
  if (values.postgres && (values.lists || values.save)) {
    throw new Error('--postgres cannot be combined with --lists or --save')
  }
  if (values.save && only.length > 0) {
    throw new Error('--save needs the whole table and cannot be combined with --only')
  }
  return {
    operations:
      only.length > 0
        ? OPERATION_NAMES.filter((name) => only.includes(name))
        : OPERATION_NAMES.filter((name) => values.big || OPERATIONS[name].isLong !== true),
    profile: values.profile === undefined ? undefined : readProfiled(values.profile),
    isSaved: values.save,
    isPostgres: values.postgres,
    isLists: values.lists,
    isHelp: values.help,
    rounds: readNumber('--rounds', values.rounds, 1, 100),
    milliseconds: 1000 * readNumber('--seconds', values.seconds, 1, 600),
  }
}

function readOperation(value: string): OperationName {
  const name = OPERATION_NAMES.find((one) => one === value)
  if (name === undefined) {
    throw new Error(`--only must be one of ${OPERATION_NAMES.join(', ')} (got "${value}")`)
  }
  return name
}

function readProfiled(value: string): CpuOperation {
  if (isCpuOperation(value)) return value
  const names = OPERATION_NAMES.filter((name) => OPERATIONS[name].hasProfile)
  throw new Error(`--profile must be one of ${names.join(', ')} (got "${value}")`)
}

function readNumber(option: string, value: string, least: number, most: number): number {
  const number = Number(value)
  if (/^\d+$/.test(value) && number >= least && number <= most) return number
  throw new Error(`${option} must be a whole number from ${least} to ${most} (got "${value}")`)
}
