/** The fields of a policy as a form, and the values that travel in it. API 4.4. */
import {
  type DemandingMember,
  eachDemand,
  type FactorDemands,
} from '../../../protocol/factors/second-factors.ts'
import { LONGEST_NAME } from '../../../protocol/limits.ts'
import { form } from '../../account/layout.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import type { ConsoleFrame } from '../layout.ts'
import { check, choice, severalChoices, tagsField, textField, wholeNumber } from './form-parts.ts'
import { type FormState, fieldsOf, seenField } from './form-state.ts'

export interface PolicyValues extends FactorDemands {
  readonly name: string
  readonly allowPassword: boolean
  readonly minPasswordLength: string
  readonly maxAttempts: string
  readonly lockoutDurationMinutes: string
  readonly allowCert: boolean
  readonly allowExpiredCerts: boolean
  readonly bindTokens: boolean
  readonly allowExtJwt: boolean
  /** The ids of the signers; none means every enabled one. */
  readonly allowedSigners: readonly string[]
  readonly allowPasskey: boolean
  /** The id of a signer; empty for none. */
  readonly requireExtJwt: string
  readonly requireBoundToken: boolean
  /** As lines of `name = value`. */
  readonly tags: string
}

/** What a policy can demand, in its form and in the list of policies. */
const DEMANDS: Readonly<Record<DemandingMember, { label: string; name: string }>> = {
  requireTotp: {
    label: 'Require a code from an authenticator app',
    name: 'authenticator app',
  },
  requirePasskey: { label: 'Require a passkey', name: 'passkey' },
  requireTotpOrPasskey: {
    label: 'Require a code or a passkey, whichever the user has',
    name: 'authenticator app or passkey',
  },
}

const DEMANDING_MEMBERS = Object.keys(eachDemand(() => undefined)) as readonly DemandingMember[]

/** Returns the names of the factors that the policy demands. */
export function demandedFactors(values: FactorDemands): readonly string[] {
  return DEMANDING_MEMBERS.filter((member) => values[member]).map((member) => DEMANDS[member].name)
}

export interface SignerChoice {
  readonly id: string
  readonly name: string
}

export interface PolicyForm {
  readonly path: string
  readonly state: FormState<PolicyValues>
  readonly signers: readonly SignerChoice[]
  readonly button: string
  readonly hint: string
}

export function policyFields(frame: ConsoleFrame, page: PolicyForm): SafeHtml {
  const { path, state, signers, button, hint } = page
  const at = fieldsOf(state)
  const choices = signers.map(({ id, name }) => [id, name] as const)
  return form(
    frame.formToken,
    path,
    html`${seenField(state)}<div class="fields">
${textField({ ...at('name'), label: 'Name', longest: LONGEST_NAME, isRequired: true })}
<fieldset><legend>Passwords</legend>
${check({ ...at('allowPassword'), label: 'Allow passwords' })}
<div class="row">
${wholeNumber({ ...at('minPasswordLength'), label: 'Shortest password', min: 8, max: 128 })}
${wholeNumber({ ...at('maxAttempts'), label: 'Failures before a lock', min: 0, max: 1000 })}
${wholeNumber({ ...at('lockoutDurationMinutes'), label: 'Lock, in minutes', min: 0, max: 525_600 })}
</div>
<p class="hint">0 failures: never locked. 0 minutes: until an administrator unlocks it.</p>
</fieldset>
<fieldset><legend>Passkeys</legend>
${check({ ...at('allowPasskey'), label: 'Allow signing in with a passkey alone' })}
</fieldset>
<fieldset><legend>Certificates</legend>
${check({ ...at('allowCert'), label: 'Allow client certificates' })}
${check({ ...at('allowExpiredCerts'), label: 'Accept expired certificates too' })}
${check({ ...at('bindTokens'), label: 'Accept tokens only together with their certificate' })}
</fieldset>
<fieldset><legend>External accounts</legend>
${check({ ...at('allowExtJwt'), label: 'Allow JWTs of external signers' })}
${severalChoices({
  ...at('allowedSigners'),
  label:
    signers.length === 0
      ? 'There are no signers yet.'
      : 'Only these signers; if none is selected, every enabled one:',
  choices,
})}
</fieldset>
<fieldset><legend>Second factors</legend>
${DEMANDING_MEMBERS.map((member) => html`${check({ ...at(member), label: DEMANDS[member].label })}\n`)}${choice(
  {
    ...at('requireExtJwt'),
    label: 'Require a JWT of this signer with every call',
    choices: [['', 'None'], ...choices],
  },
)}
</fieldset>
<fieldset><legend>Tokens</legend>
${check({ ...at('requireBoundToken'), label: 'Require tokens that are bound to a key or a certificate' })}
<p class="hint">A copied token is then worth nothing. Clients need DPoP or a client certificate; legacy sessions are refused.</p>
</fieldset>
${tagsField(at('tags'))}
<div class="buttons"><button type="submit">${button}</button></div>
<p class="hint">${hint}</p>
</div>`,
  )
}

/** The same values as hidden fields, for the form that saves what was previewed. */
export function hiddenPolicy(state: FormState<PolicyValues>): SafeHtml {
  const pairs = Object.entries(state.values).flatMap(([name, value]): [string, string][] => {
    if (typeof value === 'boolean') return value ? [[name, 'yes']] : []
    return typeof value === 'string' ? [[name, value]] : value.map((one: string) => [name, one])
  })
  return html`${seenField(state)}${pairs.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}`
}
