/** `--port PORT`, of every command that has it. */
import { Misuse } from './io.ts'

const HIGHEST_PORT = 65_535

/** Throws Misuse. */
export function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0
  if (port === 0 || port > HIGHEST_PORT) throw new Misuse('--port must be a number from 1 to 65535')
  return port
}
