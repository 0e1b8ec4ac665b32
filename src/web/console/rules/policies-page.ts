/** /console/policies: how identities may sign in. API 4.4. */
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, confirmFirst, consoleLayout } from '../layout.ts'
import { POLICIES_PATH, policyPath } from '../navigation.ts'
import { badge, dangerous, section, table } from '../parts.ts'
import { askedFirst, type FormState } from './form-state.ts'
import {
  demandedFactors,
  type PolicyValues,
  policyFields,
  type SignerChoice,
} from './policy-form.ts'

export interface ListedPolicy extends PolicyValues {
  readonly id: string
  readonly isBuiltIn: boolean
  readonly identities: number
}

export function policiesPage(frame: ConsoleFrame, policies: readonly ListedPolicy[]): SafeHtml {
  return consoleLayout(frame, {
    section: POLICIES_PATH,
    title: 'Policies',
    lead: html`<a class="button" href="${POLICIES_PATH}/new">New policy</a>`,
    content: table(
      'Policies',
      [
        {
          title: 'Name',
          look: 'wide',
          cell: ({ id, name, isBuiltIn }) =>
            html`<a href="${policyPath(id)}"><bdi>${name}</bdi></a>${isBuiltIn && html` ${badge('quiet', 'Built in')}`}`,
        },
        { title: 'Allows', cell: (policy) => methodsOf(policy).join(', ') },
        {
          title: 'Also requires',
          cell: (policy) =>
            [
              ...demandedFactors(policy),
              ...(policy.requireExtJwt === '' ? [] : ['JWT of a signer on every call']),
              ...(policy.requireBoundToken ? ['bound tokens'] : []),
            ].join(', ') || '–',
        },
        { title: 'Identities', look: 'number', cell: ({ identities }) => identities },
      ],
      policies,
    ),
  })
}

export function methodsOf(
  policy: Pick<PolicyValues, 'allowPassword' | 'allowCert' | 'allowExtJwt' | 'allowPasskey'>,
): string[] {
  return [
    ...(policy.allowPassword ? ['passwords'] : []),
    ...(policy.allowPasskey ? ['passkeys'] : []),
    ...(policy.allowCert ? ['certificates'] : []),
    ...(policy.allowExtJwt ? ['external accounts'] : []),
  ]
}

export interface PolicyPage {
  readonly id: string
  readonly name: string
  readonly identities: number
  readonly isBuiltIn: boolean
  readonly state: FormState<PolicyValues>
  readonly signers: readonly SignerChoice[]
}

export function policyPage(frame: ConsoleFrame, page: PolicyPage): SafeHtml {
  const { id, name, identities, isBuiltIn, state, signers } = page
  const path = policyPath(id)
  return consoleLayout(frame, {
    section: POLICIES_PATH,
    title: name,
    lead: html`<p class="lead">${identities === 1 ? '1 identity has' : `${identities} identities have`} this policy</p>`,
    error: state.refusal,
    content: html`${askedFirst(name, state, { cause: 'Your change' })}${section(
      'Change it',
      policyFields(frame, {
        path: `${path}/preview`,
        state,
        signers,
        button: 'Preview the change',
        hint: 'Nothing is saved yet: the next page shows who would be affected.',
      }),
    )}
${
  !isBuiltIn &&
  section(
    'Delete it',
    identities > 0
      ? html`<p>It can be deleted once no identity has it.</p>`
      : html`${confirmFirst(frame)}${dangerous(frame, { path: `${path}/delete`, label: 'Delete policy', consequence: 'The policy is deleted. No identity has it.' })}`,
  )
}`,
  })
}

export function newPolicyPage(
  frame: ConsoleFrame,
  page: Pick<PolicyPage, 'state' | 'signers'>,
): SafeHtml {
  return consoleLayout(frame, {
    section: POLICIES_PATH,
    title: 'New policy',
    error: page.state.refusal,
    content: html`${confirmFirst(frame)}${section(
      'How may identities sign in?',
      policyFields(frame, {
        path: POLICIES_PATH,
        state: page.state,
        signers: page.signers,
        button: 'Create policy',
        hint: 'A new policy affects no one until an identity gets it.',
      }),
    )}`,
  })
}
