/** Somebody who has logged in on the command line, in the context `default`, and the commands that he runs then. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { ADMIN } from '../service.ts'
import { cliFor, loginTo, type Terminal } from './cli.ts'
import type { Finished } from './program.ts'

export interface CommandLine {
  /** Where commands run, and somewhere to write files for options. */
  readonly folder: string
  /** Runs a command to its end. */
  run(...args: readonly string[]): Promise<Finished>
  /** The same, with this on standard input. */
  runWith(input: string, ...args: readonly string[]): Promise<Finished>
  /** On a terminal. */
  open(...args: readonly string[]): Terminal
}

/** The first administrator unless told otherwise. */
export async function commandLineOf(
  t: TestContext,
  service: { readonly baseUrl: string; readonly ca: string },
  { username, password }: { readonly username: string; readonly password: string } = ADMIN,
): Promise<CommandLine> {
  const cli = await cliFor(t, service, { NO_COLOR: '1' })
  const login = [...loginTo(service), '--username', username]
  const { code, stderr } = await cli.run(login, `${password}\n`)
  assert.equal(code, 0, stderr)
  return {
    folder: cli.home,
    run: (...args) => cli.run(args),
    runWith: (input, ...args) => cli.run(args, input),
    // Wide enough that nothing is cut.
    open: (...args) => cli.open(args, { columns: 250 }),
  }
}
