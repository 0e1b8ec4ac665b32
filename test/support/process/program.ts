/** The command as it is shipped, and what its process gets. */
import { fileURLToPath } from 'node:url'

export const PROGRAM = fileURLToPath(new URL('../../../bin/latchkey.js', import.meta.url))

export interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Holds nothing of ours but what the test gives. */
export function childEnvironment(
  own: Readonly<Record<string, string | undefined>> = {},
): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG']
  return { ...Object.fromEntries(kept.map((name) => [name, process.env[name]])), ...own }
}
