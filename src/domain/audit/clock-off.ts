/**
 * A credential that fails only because of time, and by how much (D-325). It is recorded in the event, for operators;
 * the caller gets the same answer as for any other fault (D-12).
 */

/** What was compared with our clock. */
export const CLOCKS = ['totp', 'iat', 'nbf', 'exp', 'notBefore', 'notAfter'] as const

export interface ClockOff {
  readonly of: (typeof CLOCKS)[number]
  /** Whole seconds. Positive: in the future of our clock; negative: in its past. */
  readonly aheadSeconds: number
}

/** As a detail of an event; empty if the time is not a plausible number. */
export function clockOff(of: ClockOff['of'], aheadSeconds: number): { readonly clock?: ClockOff } {
  return Number.isFinite(aheadSeconds)
    ? { clock: { of, aheadSeconds: Math.round(aheadSeconds) } }
    : {}
}
