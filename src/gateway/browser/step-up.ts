/**
 * What a browser must sign in with to meet the rules of an upstream, as parameters of its authorization request. D-462;
 * OIDC Core §3.1.2.1.
 */
import { inSeconds } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import { ACR, acrFor } from '../../protocol/factors/acr.ts'
import { amrValue, type Unmet } from '../rules/judge.ts'
import type { UpstreamSettings } from '../settings/settings.ts'

export type StepUp = Readonly<Record<string, string>>

/**
 * For a browser that is not signed in yet, or whose sign-in was not enough: then `unmet` says why, and undefined is
 * returned if no sign-in would help.
 */
export function stepUpFor(
  { require: { amr = [] } }: Pick<UpstreamSettings, 'require'>,
  unmet?: Unmet,
): StepUp | undefined {
  const classes = amr.map((method) => acrFor(amrValue(method)))
  // The class of one factor includes that of any two.
  const named = new Set(classes.filter((acr) => acr !== undefined && acr !== ACR.twoFactors))
  const [acr = classes.find((one) => one !== undefined), ...others] = named
  // `acr_values` are alternatives: where two factors are demanded by name, the policy must ask for them.
  const asked = acr === undefined || others.length > 0 ? {} : { acr_values: acr }
  if (unmet === undefined) return asked
  switch (unmet.rule) {
    case 'maxAge':
      return { ...asked, max_age: String(inSeconds(unmet.required)) }
    case 'amr':
      return 'acr_values' in asked && unmet.required.every((method) => acrFor(amrValue(method)))
        ? asked
        : undefined
    default:
      return undefined
  }
}

/** Whether a session began with this sign-in and still lacks what is missing: its browser would go round in circles. */
export function wasInVain(
  { stepUp: before, begunAt }: { readonly stepUp: StepUp; readonly begunAt: Instant },
  unmet: Unmet,
  stepUp: StepUp,
  now: Instant,
): boolean {
  if (unmet.rule !== 'maxAge') return before['acr_values'] === stepUp['acr_values']
  return before['max_age'] === stepUp['max_age'] && now - begunAt <= unmet.required
}
