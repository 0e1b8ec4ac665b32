/**
 * How often a test repeats what chance decides: kills, races, random input. A few times by default, so that the suite
 * answers in minutes; `LATCHKEY_TEST_ROUNDS=10` makes it ten times as many (CONTRIBUTING.md).
 */
const VARIABLE = 'LATCHKEY_TEST_ROUNDS'

const factor = Number(process.env[VARIABLE] ?? 1)
if (!Number.isInteger(factor) || factor < 1) {
  throw new Error(`${VARIABLE} must be a whole number from 1 on (got "${process.env[VARIABLE]}")`)
}

/** `short` is the number of rounds in an ordinary run. */
export function rounds(short: number): number {
  return short * factor
}

/** Whether more rounds than in an ordinary run were asked for. */
export const isLongRun = factor > 1
