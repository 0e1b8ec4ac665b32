/** Why a request to another host failed, in words that may be shown. */

/** A fault that our own code found; its message may be shown. */
export class Refusal extends Error {}

/** Messages of the platform can quote what the other side sent; its codes cannot. */
export function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.message
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const named = typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? ` (${code})` : ''
  return `the host could not be reached${named}`
}
