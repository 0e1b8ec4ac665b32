/** What a browser signs in with to meet the rules of an upstream. D-462. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { hours, minutes } from '../../base/time/duration.ts'
import { instant, plus } from '../../base/time/instant.ts'
import type { Unmet } from '../rules/judge.ts'
import type { Requirements } from '../settings/settings.ts'
import { stepUpFor, wasInVain } from './step-up.ts'

const TOTP = 'urn:latchkey:acr:totp'
const tooOld: Unmet = { rule: 'maxAge', required: hours(1), isUnknown: false }
const without = (...required: string[]): Unmet => ({ rule: 'amr', required, isUnknown: false })

for (const [what, require, unmet, expected] of [
  ['nothing', {}, undefined, {}],
  ['roles', { roles: ['ops'] }, undefined, {}],
  ['a code', { amr: ['totp'] }, undefined, { acr_values: TOTP }],
  ['a code by its value', { amr: ['otp'] }, undefined, { acr_values: TOTP }],
  ['a password', { amr: ['pwd'] }, undefined, {}],
  ['a passkey', { amr: ['passkey'] }, undefined, { acr_values: 'phr' }],
  ['any two', { amr: ['mfa'] }, undefined, { acr_values: 'urn:latchkey:acr:2fa' }],
  ['two, one by name', { amr: ['mfa', 'totp'] }, undefined, { acr_values: TOTP }],
  ['two by name', { amr: ['totp', 'passkey'] }, undefined, {}],
  ['a code that is missing', { amr: ['pwd', 'totp'] }, without('totp'), { acr_values: TOTP }],
  ['a certificate that is missing', { amr: ['swk'] }, without('swk'), undefined],
  ['both that are missing', { amr: ['swk', 'totp'] }, without('swk', 'totp'), undefined],
  ['two by name that are missing', { amr: ['totp', 'passkey'] }, without('totp'), undefined],
  ['an age', { maxAge: hours(1) }, tooOld, { max_age: '3600' }],
  [
    'an age and a code',
    { amr: ['totp'], maxAge: hours(1) },
    tooOld,
    { acr_values: TOTP, max_age: '3600' },
  ],
  ['a role', { roles: ['x'] }, { rule: 'roles', required: ['x'], isUnknown: false }, undefined],
] as const satisfies readonly (readonly [
  string,
  Requirements,
  Unmet | undefined,
  ReturnType<typeof stepUpFor>,
])[]) {
  test(`rules about ${what}: ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(stepUpFor({ require }, unmet), expected)
  })
}

const BEGUN = instant(1_800_000_000_000)
for (const [what, before, unmet, stepUp, minutesLater, expected] of [
  ['the same class', { acr_values: TOTP }, without('totp'), { acr_values: TOTP }, 1, true],
  ['another class', { acr_values: TOTP }, without('passkey'), { acr_values: 'phr' }, 1, false],
  ['a class for the first time', {}, without('totp'), { acr_values: TOTP }, 1, false],
  ['a fresh login at once', { max_age: '3600' }, tooOld, { max_age: '3600' }, 1, true],
  ['a fresh login later', { max_age: '3600' }, tooOld, { max_age: '3600' }, 61, false],
  ['a fresh login for the first time', {}, tooOld, { max_age: '3600' }, 1, false],
] as const) {
  test(`a browser is ${expected ? 'not ' : ''}sent to sign in with ${what}`, () => {
    const session = { stepUp: before, begunAt: BEGUN }
    const now = plus(BEGUN, minutes(minutesLater))
    assert.equal(wasInVain(session, unmet, stepUp, now), expected)
  })
}
