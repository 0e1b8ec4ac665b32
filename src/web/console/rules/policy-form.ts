/** The fields of a policy as a form, and the values that travel in it. API 4.4. */
import {
  type DemandingMember,
  eachDemand,
  type FactorDemands,
} from '../../../protocol/factors/second-factors.ts'
import { form } from '../../account/layout.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import type { ConsoleFrame } from '../layout.ts'
import { check, tagsField, wholeNumber } from './form-parts.ts'

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
  readonly signers: readonly string[]
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
  readonly values: PolicyValues
  readonly signers: readonly SignerChoice[]
  readonly button: string
  readonly hint: string
}

export function policyFields(frame: ConsoleFrame, page: PolicyForm): SafeHtml {
  const { path, values, signers, button, hint } = page
  return form(
    frame.formToken,
    path,
    html`<div class="fields">
<div><label for="policy-name">Name</label><input id="policy-name" name="name" value="${values.name}" maxlength="255" required autocomplete="off"></div>
<fieldset><legend>Passwords</legend>
${check('allowPassword', 'Allow passwords', values.allowPassword)}
<div class="row">
${wholeNumber('minPasswordLength', 'Shortest password', values.minPasswordLength, 8, 128)}
${wholeNumber('maxAttempts', 'Failures before a lock', values.maxAttempts, 0, 1000)}
${wholeNumber('lockoutDurationMinutes', 'Lock, in minutes', values.lockoutDurationMinutes, 0, 525_600)}
</div>
<p class="hint">0 failures: never locked. 0 minutes: until an administrator unlocks it.</p>
</fieldset>
<fieldset><legend>Passkeys</legend>
${check('allowPasskey', 'Allow signing in with a passkey alone', values.allowPasskey)}
</fieldset>
<fieldset><legend>Certificates</legend>
${check('allowCert', 'Allow client certificates', values.allowCert)}
${check('allowExpiredCerts', 'Accept expired certificates too', values.allowExpiredCerts)}
${check('bindTokens', 'Accept tokens only together with their certificate', values.bindTokens)}
</fieldset>
<fieldset><legend>External accounts</legend>
${check('allowExtJwt', 'Allow JWTs of external signers', values.allowExtJwt)}
${
  signers.length === 0
    ? html`<p class="hint">There are no signers yet.</p>`
    : html`<p class="hint">Only these signers; if none is selected, every enabled one:</p>
${signers.map(({ id, name }, i) => html`<div class="check"><input type="checkbox" id="signer-${i}" name="signers" value="${id}"${values.signers.includes(id) ? html` checked` : undefined}><label for="signer-${i}"><bdi>${name}</bdi></label></div>\n`)}`
}
</fieldset>
<fieldset><legend>Second factors</legend>
${DEMANDING_MEMBERS.map((member) => html`${check(member, DEMANDS[member].label, values[member])}\n`)}<div><label for="requireExtJwt">Require a JWT of this signer with every call</label>
<select id="requireExtJwt" name="requireExtJwt"><option value="">None</option>${signers.map(({ id, name }) => html`<option value="${id}"${values.requireExtJwt === id ? html` selected` : undefined}>${name}</option>`)}</select></div>
</fieldset>
<fieldset><legend>Tokens</legend>
${check('requireBoundToken', 'Require tokens that are bound to a key or a certificate', values.requireBoundToken)}
<p class="hint">A copied token is then worth nothing. Clients need DPoP or a client certificate; legacy sessions are refused.</p>
</fieldset>
${tagsField(values.tags)}
<div class="buttons"><button type="submit">${button}</button></div>
<p class="hint">${hint}</p>
</div>`,
  )
}

/** The same values as hidden fields, for the form that saves what was previewed. */
export function hiddenPolicy(values: PolicyValues): SafeHtml {
  const pairs = Object.entries(values).flatMap(([name, value]): [string, string][] => {
    if (typeof value === 'boolean') return value ? [[name, 'yes']] : []
    return typeof value === 'string' ? [[name, value]] : value.map((one: string) => [name, one])
  })
  return html`${pairs.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}`
}
