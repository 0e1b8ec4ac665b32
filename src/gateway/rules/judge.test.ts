/** Who may pass to an upstream, as a table. D-403, D-404. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hours, minutes } from '../../base/time/duration.ts'
import { instant, plus } from '../../base/time/instant.ts'
import { formatChallenges } from '../../protocol/challenge.ts'
import { hashRole, roleSubject } from '../../protocol/feed/role-removals.ts'
import { createRoleRemovals } from '../../router/roles.ts'
import type { Accepted } from '../../router/router.ts'
import type { Requirements } from '../settings/settings.ts'
import { answerUnmet } from './answer-unmet.ts'
import { type Caller, unmetRequirement } from './judge.ts'
import { judgeOpen } from './judge-caller.ts'

const NOON = instant(1_800_000_000_000)

const ALICE: Caller = {
  identityId: 'alice',
  roles: ['ops', 'db-admins'],
  policyId: 'default',
  amr: ['pwd', 'otp'],
  authenticatedAt: NOON,
}

/** A caller of an older controller, or whose roles do not fit into a token. */
const UNKNOWN: Caller = {
  identityId: 'alice',
  roles: undefined,
  policyId: undefined,
  amr: undefined,
  authenticatedAt: undefined,
}

const ROWS: readonly (readonly [
  what: string,
  require: Requirements,
  caller: Caller,
  expected: string,
])[] = [
  ['no rule', {}, ALICE, 'passes'],
  ['no rule, unknown facts', {}, UNKNOWN, 'passes'],
  ['its identity', { identities: ['bob', 'alice'] }, ALICE, 'passes'],
  ['another identity', { identities: ['bob'] }, ALICE, 'IDENTITY_NOT_ALLOWED'],
  ['one of its roles', { roles: ['db-admins', 'x'] }, ALICE, 'passes'],
  ['another role', { roles: ['x', 'y'] }, ALICE, 'ROLE_REQUIRED'],
  ['a role in another case', { roles: ['OPS'] }, ALICE, 'ROLE_REQUIRED'],
  ['a role, unknown roles', { roles: ['ops'] }, UNKNOWN, 'ROLES_UNKNOWN'],
  ['a role, no roles', { roles: ['ops'] }, { ...ALICE, roles: [] }, 'ROLE_REQUIRED'],
  ['its policy', { policies: ['other', 'default'] }, ALICE, 'passes'],
  ['another policy', { policies: ['other'] }, ALICE, 'POLICY_NOT_ALLOWED'],
  ['a policy, unknown policy', { policies: ['default'] }, UNKNOWN, 'POLICY_NOT_ALLOWED'],
  ['its factors', { amr: ['pwd', 'totp'] }, ALICE, 'passes'],
  ['a factor by its value', { amr: ['otp'] }, ALICE, 'passes'],
  ['one more factor', { amr: ['pwd', 'swk'] }, ALICE, 'FACTOR_REQUIRED'],
  ['a factor, unknown factors', { amr: ['pwd'] }, UNKNOWN, 'FACTOR_REQUIRED'],
  ['a factor with the name of a member', { amr: ['constructor'] }, ALICE, 'FACTOR_REQUIRED'],
  ['a sign-in within the hour', { maxAge: hours(1) }, ALICE, 'passes'],
  ['an age, unknown time', { maxAge: hours(1) }, UNKNOWN, 'LOGIN_TOO_OLD'],
  ['a sign-in that is too old', { maxAge: minutes(59) }, ALICE, 'LOGIN_TOO_OLD'],
  [
    'everything',
    {
      identities: ['alice'],
      roles: ['ops'],
      policies: ['default'],
      amr: ['totp'],
      maxAge: hours(2),
    },
    ALICE,
    'passes',
  ],
  ['a role and a factor that are missing', { roles: ['x'], amr: ['swk'] }, ALICE, 'ROLE_REQUIRED'],
]

describe('a caller', () => {
  for (const [what, require, caller, expected] of ROWS) {
    test(`with the rule: ${what}: ${expected}`, () => {
      const unmet = unmetRequirement(require, caller, plus(NOON, hours(1)))
      assert.equal(unmet === undefined ? 'passes' : answerUnmet(unmet, 'b').code, expected)
    })
  }
})

describe('the challenge names what is missing', () => {
  const challenge = (require: Requirements) => {
    const unmet = unmetRequirement(require, ALICE, plus(NOON, hours(1)))
    assert.ok(unmet)
    return formatChallenges(answerUnmet(unmet, 'b').challenges ?? [])
  }

  test('the roles of which one is needed, without characters that could end it', () => {
    assert.match(
      challenge({ roles: ['x', 'a"b\r\nset-cookie: c'] }),
      /^Bearer realm="b-oidc", error="insufficient_scope", error_description="[^"]+", roles="x a\\"b%0D%0Aset-cookie: c"$/,
    )
  })

  // RFC 9470 §3: `max_age` in seconds.
  test('the age of the sign-in', () => {
    assert.match(
      challenge({ maxAge: minutes(5) }),
      /error="insufficient_user_authentication".*, max_age="300"$/,
    )
  })

  test('the factors that were not proven', () => {
    assert.match(
      challenge({ amr: ['pwd', 'totp', 'swk'] }),
      /error="insufficient_user_authentication".*, amr="swk"$/,
    )
  })
})

test('an open connection that has lost one role after the other is not kept by the first, whose removal the router has forgotten', () => {
  const removals = createRoleRemovals()
  const router = {
    rolesOf: ({ identityId, facts }: Accepted) =>
      facts?.roles && removals.rolesOf(identityId, facts.roles),
  }
  const accepted: Accepted = {
    verdict: 'accepted',
    identityId: 'alice',
    sessionId: 'session',
    expiresAt: plus(NOON, minutes(30)),
    subjects: ['session'],
    facts: { roles: { names: ['ops', 'db-admins'], version: 0 }, authenticatedAt: NOON },
  }
  const rules = { require: { roles: ['ops', 'db-admins'] } }
  const mayStay = judgeOpen({ router, clock: { now: () => NOON } }, accepted, () => rules)
  const lose = (role: string, version: number) =>
    removals.add({ identityId: 'alice', version, roleHash: hashRole(role) })
  lose('ops', 1)
  assert.equal(mayStay(), true)
  removals.forget(roleSubject('alice', 1, 'ops'))
  lose('db-admins', 2)
  assert.equal(mayStay(), false)
})
