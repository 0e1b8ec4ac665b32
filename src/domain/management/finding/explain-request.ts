/**
 * Why a request was refused: its events, and for a failed login the checks in the order in which they are made, up to
 * the one that failed. D-359. What the identity looks like now is read as well, because the event is from the past.
 */
import type { IdentityId } from '../../../base/ids.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { clockSentence } from '../../audit/clock-sentence.ts'
import type { LoginFailureReason } from '../../audit/reasons.ts'
import type { RecordedEvent } from '../../audit/recorded-event.ts'
import type { Events } from '../../audit/stores.ts'
import { whatHappened } from '../../audit/what-happened.ts'
import { type Identity, isDisabled } from '../../identities/identity.ts'
import type { Identities } from '../../identities/stores.ts'
import { allOf, equals, isAmong } from '../../lists/filters.ts'
import type { Filter } from '../../lists/list-query.ts'
import type { Rules } from '../../policies/rules.ts'

interface ExplainPorts {
  readonly rules: Pick<Rules, 'policy'>
  readonly clock: Pick<Clock, 'now'>
  readonly events: Pick<Events, 'list'>
  readonly identities: Pick<Identities, 'findMany'>
}

export interface ExplainedEvent {
  readonly event: RecordedEvent
  readonly checks: readonly Check[]
  /** What the administrator can do about it; undefined if the user or the client has to. */
  readonly fix: Fix | undefined
}

export interface Check {
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'not-reached'
  readonly expected: string
  readonly received: string | undefined
}

/** Where in the console the fix is. */
export type Fix =
  | { readonly at: 'identity'; readonly id: IdentityId; readonly label: string }
  | { readonly at: 'policy'; readonly id: string; readonly label: string }
  | { readonly at: 'signers' | 'cas'; readonly label: string }

/** One request leaves few events. */
const MOST_EVENTS = 50

const REFUSALS = ['login.failed', 'token.refused', 'token.reused', 'enrollment.refused']

export async function explainRequest(
  ports: ExplainPorts,
  requestId: string,
): Promise<readonly ExplainedEvent[]> {
  const filter = equals('requestId', requestId)
  const orders = [{ field: 'at', direction: 'asc' }] as const
  const { rows } = await ports.events.list({ filter, orders, limit: MOST_EVENTS, offset: 0 })
  const ids = rows.flatMap(({ identityId }) => (identityId === undefined ? [] : [identityId]))
  const identities = await ports.identities.findMany([...new Set(ids)])
  return rows.map((event) => {
    const { identityId } = event
    const identity = identityId === undefined ? undefined : identities.get(identityId)
    return { event, checks: checksOf(ports, event, identity), fix: fixOf(event, identity) }
  })
}

/** The newest requests that were refused. */
export async function listRefusals(
  { events }: Pick<ExplainPorts, 'events'>,
  limit: number,
): Promise<readonly RecordedEvent[]> {
  const withoutRequest: Filter = { op: 'null', field: { kind: 'field', name: 'requestId' } }
  const filter = allOf(isAmong('type', REFUSALS), { op: 'not', part: withoutRequest })
  return (await events.list({ filter, limit, offset: 0 })).rows
}

interface Step {
  readonly name: string
  readonly expected: string
  readonly fails: readonly LoginFailureReason[]
}

const USABLE: readonly Step[] = [
  { name: 'Identity', expected: 'exists', fails: ['identity-missing'] },
  { name: 'State of the identity', expected: 'enabled', fails: ['identity-disabled'] },
  { name: 'Policy', expected: 'allows this way to sign in', fails: ['method-not-allowed'] },
]

/** In the order of domain/factors: a test compares every reason with LOGIN_FAILURES. */
const STEPS: Readonly<Record<string, readonly Step[]>> = {
  password: [
    { name: 'Username', expected: 'belongs to an identity', fails: ['unknown-username'] },
    { name: 'Password', expected: 'is the one that was set', fails: ['wrong-password'] },
    ...USABLE,
    { name: 'Failures', expected: 'the network is not blocked', fails: ['password-locked'] },
  ],
  cert: [
    { name: 'Certificate', expected: 'sent with the connection', fails: ['no-certificate'] },
    {
      name: 'Chain',
      expected: 'leads to a CA that is accepted here',
      fails: ['certificate-untrusted', 'ca-unverified', 'ca-disabled'],
    },
    {
      name: 'Purpose',
      expected: 'client authentication, of a person or program',
      fails: ['certificate-is-ca', 'certificate-of-session', 'certificate-wrong-usage'],
    },
    { name: 'Begin', expected: 'has passed', fails: ['certificate-not-yet-valid'] },
    { name: 'Owner', expected: 'belongs to an identity', fails: ['certificate-unknown'] },
    ...USABLE,
    { name: 'End', expected: 'has not passed', fails: ['certificate-expired'] },
  ],
  'ext-jwt': [
    {
      name: 'JWT',
      expected: 'sent with the request',
      fails: ['jwt-missing', 'idp-refused', 'idp-unreachable'],
    },
    {
      name: 'Signer',
      expected: 'known here and enabled',
      fails: ['signer-unknown', 'signer-disabled'],
    },
    {
      name: 'Signature, issuer, audience and times',
      expected: 'as the signer is set up',
      fails: ['jwt-expired', 'jwt-invalid'],
    },
    { name: 'Claim', expected: 'names an identity', fails: ['identity-unknown'] },
    ...USABLE,
    { name: 'Policy', expected: 'allows this signer', fails: ['signer-not-allowed'] },
  ],
  secondary: [
    { name: 'First factor', expected: 'proven', fails: [] },
    {
      name: 'External JWT that the policy also demands',
      expected: 'valid, and of the same identity',
      fails: ['secondary-jwt-missing', 'secondary-jwt-expired', 'secondary-jwt-invalid'],
    },
  ],
  // Alone or as the second factor.
  passkey: [
    {
      name: 'Passkey',
      expected: 'one of this identity, answering this challenge at this address',
      fails: ['passkey-invalid'],
    },
    { name: 'Counter', expected: 'higher than the last one', fails: ['passkey-cloned'] },
    ...USABLE,
  ],
  // A `zt-session` under a policy that demands tokens bound to a key or certificate (D-454).
  bound: [
    { name: 'First factor', expected: 'proven', fails: [] },
    { name: 'Session', expected: 'bound to a key or certificate', fails: ['token-not-bound'] },
  ],
  code: [
    { name: 'First factor', expected: 'proven', fails: [] },
    { name: 'Wrong codes', expected: 'not too many', fails: ['too-many-codes'] },
    {
      name: 'Code',
      expected: 'the current one of the app, or a recovery code',
      fails: ['wrong-code'],
    },
  ],
}

/** Exported for the test that every reason fails exactly one step of some login. */
export const EXPLAINED_REASONS: ReadonlySet<string> = new Set(
  Object.values(STEPS).flatMap((steps) => steps.flatMap(({ fails }) => fails)),
)

function checksOf(
  { rules, clock }: Pick<ExplainPorts, 'rules' | 'clock'>,
  { type, reason, details }: RecordedEvent,
  identity: Identity | undefined,
): readonly Check[] {
  if (type !== 'login.failed' || reason === undefined) return []
  const method = String(details?.['method'])
  const failsIn = (steps: readonly Step[]) =>
    steps.findIndex(({ fails }) => (fails as readonly string[]).includes(reason))
  // A second factor is refused with its own method, or with that of the first one.
  const steps = [STEPS[method], STEPS['secondary'], STEPS['code'], STEPS['bound']].find(
    (one) => one !== undefined && failsIn(one) >= 0,
  )
  if (steps === undefined) return []
  const failed = failsIn(steps)
  return steps.map(({ name, expected }, i) => ({
    name,
    expected,
    outcome: i < failed ? 'passed' : i === failed ? 'failed' : 'not-reached',
    received: i === failed ? received() : undefined,
  }))

  function received(): string {
    const parts = [
      whatHappened(type, reason)?.sentence,
      textOf('username', details?.['username']),
      textOf('cause', details?.['why']),
      clockSentence(details?.['clock']),
      stateNow(),
    ]
    return parts.filter((part) => part !== undefined).join(' ')
  }

  /** What has changed since, if it matters for this reason. */
  function stateNow(): string | undefined {
    if (identity === undefined) return undefined
    if (reason === 'identity-disabled') {
      return isDisabled(identity, clock.now()) ? 'It still is.' : 'It is enabled now.'
    }
    if (reason !== 'method-not-allowed') return undefined
    const policy = rules.policy(identity.authPolicyId)
    return policy === undefined ? undefined : `Its policy is now ${JSON.stringify(policy.name)}.`
  }
}

function textOf(name: string, value: unknown): string | undefined {
  return typeof value === 'string' ? `(${name}: ${value})` : undefined
}

const ABOUT_IDENTITY = new Map([
  ['identity-disabled', 'Enable the identity'],
  ['wrong-password', 'See its credentials'],
  ['password-locked', 'Unlock the password'],
  ['wrong-code', 'Reset the second factor'],
  ['passkey-cloned', 'Reset the second factor'],
  ['too-many-codes', 'Reset the second factor'],
  ['certificate-expired', 'Invite it again'],
  ['token-expired', 'Renew the invitation'],
  ['token-used', 'See its credentials'],
  ['authenticator-removed', 'Invite it again'],
])
const ABOUT_POLICY = [
  'method-not-allowed',
  'signer-not-allowed',
  'more-demanded',
  'token-not-bound',
]
const ABOUT_SIGNERS = [
  'signer-unknown',
  'signer-disabled',
  'jwt-invalid',
  'secondary-jwt-invalid',
  'idp-refused',
  'idp-unreachable',
]
const ABOUT_CAS = ['ca-disabled', 'ca-unverified', 'certificate-untrusted']

function fixOf({ reason = '' }: RecordedEvent, identity: Identity | undefined): Fix | undefined {
  if (identity !== undefined && ABOUT_POLICY.includes(reason)) {
    return { at: 'policy', id: identity.authPolicyId, label: 'See the policy' }
  }
  if (ABOUT_SIGNERS.includes(reason)) return { at: 'signers', label: 'See the signers' }
  if (ABOUT_CAS.includes(reason)) return { at: 'cas', label: 'See the CAs' }
  if (identity === undefined) return undefined
  const label = ABOUT_IDENTITY.get(reason) ?? 'See the identity'
  return { at: 'identity', id: identity.id, label }
}
