/**
 * A refresh when something has changed since the login, or changes while its tokens are signed. R047, D-34. On the real
 * store, in memory.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { externalSigner } from '../../../test/support/idp/external-idp.ts'
import {
  AUTHENTICATOR,
  PASSWORD,
  SESSION,
  type World,
  world,
} from '../../../test/support/login/refresh-world.ts'
import { anIdentity, aPolicy, refusalOf, WITH_TOTP } from '../../../test/support/people.ts'
import type { ExternalJwtSignerId } from '../../base/ids.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { minutes } from '../../base/time/duration.ts'
import type { TokenRefusalReason } from '../audit/reasons.ts'
import { NO_FACTORS } from '../factors/proven.ts'

const INVALID = 'INVALID_REFRESH_TOKEN'
const OTHER_SIGNER = 'signer-1' as ExternalJwtSignerId

/** The reason that the event of each refusal has (D-133). */
const REASONS: Readonly<Record<string, TokenRefusalReason>> = {
  'is disabled': 'identity-disabled',
  'is gone': 'identity-missing',
  'has a policy without passwords': 'method-not-allowed',
  'has a policy that is gone': 'method-not-allowed',
  'has a policy that demands a code now': 'more-demanded',
  'has a policy that demands an external JWT now': 'more-demanded',
  'has lost the password it logged in with': 'authenticator-removed',
}

/** What an administrator may have done since the login. */
const CHANGES: Readonly<Record<string, (world: World) => unknown>> = {
  'is disabled': ({ store, clock }) =>
    store.identities.replaceDisablement(
      anIdentity().id,
      { at: clock.now(), until: undefined },
      clock.now(),
    ),
  'is gone': ({ store }) => store.identities.remove(anIdentity().id),
  'has a policy without passwords': ({ rules }) => {
    rules.policy = () => aPolicy({ updb: { allowed: false } })
  },
  'has a policy that is gone': ({ rules }) => {
    rules.policy = () => undefined
  },
  'has a policy that demands a code now': ({ rules }) => {
    rules.policy = () => aPolicy({ secondary: { requireTotp: true } })
  },
  'has a policy that demands an external JWT now': ({ rules }) => {
    rules.policy = () => aPolicy({ secondary: { requireExtJwt: OTHER_SIGNER } })
  },
  'has lost the password it logged in with': ({ store }) =>
    store.authenticators.remove(AUTHENTICATOR),
}

for (const [what, change] of Object.entries(CHANGES)) {
  test(`R047: a refresh is refused when the identity ${what}`, async (t) => {
    const here = await world(t)
    await change(here)
    assert.equal((await refusalOf(here.refresh(here.token))).code, INVALID)
    assert.equal((await here.stored(here.token))?.spent, undefined)
    assert.deepEqual(here.happened(), ['token.refused'])
    assert.equal((here.last() as { reason?: string }).reason, REASONS[what])
  })
}

test('D-133: an unknown token leaves no event, whatever its sender', async (t) => {
  // Attack: an anonymous caller sends invented tokens, to fill the database.
  const { refresh, happened } = await world(t)
  assert.equal((await refusalOf(refresh(new Secret('lkr_never_issued')))).code, INVALID)
  assert.deepEqual(happened(), [])
})

test('D-207: repeated refusals of a token create a few events per minute, which count all of them', async (t) => {
  // Attack, or a client in a loop: a genuine token of a disabled identity is shown without end.
  const here = await world(t)
  await CHANGES['is disabled']?.(here)
  const showOften = async () => {
    for (let i = 0; i < 25; i++) {
      assert.equal((await refusalOf(here.refresh(here.token))).code, INVALID)
    }
  }
  const counts = async () => {
    const { rows } = await here.store.events.list({ limit: 100, offset: 0 })
    return rows.filter(({ type }) => type === 'token.refused').map(({ count }) => count)
  }
  const ofAMinute = [...Array(10).fill(1), 15]
  await showOften()
  assert.deepEqual((await counts()).toSorted(), ofAMinute.toSorted())
  here.clock.pass(minutes(1))
  await showOften()
  assert.deepEqual((await counts()).toSorted(), [...ofAMinute, ...ofAMinute].toSorted())
})

test('R047: what the policy demands and the login has proven does not stop a refresh', async (t) => {
  const secondary = { factors: WITH_TOTP, extJwt: OTHER_SIGNER }
  const { rules, token, refresh } = await world(t, { session: { secondary } })
  rules.policy = () => aPolicy({ secondary: { requireTotp: true, requireExtJwt: OTHER_SIGNER } })
  rules.signer = (id) => externalSigner({ id })
  await refresh(token)
})

test('D-225: the signer of a demanded second JWT must still exist and be enabled', async (t) => {
  const secondary = { factors: NO_FACTORS, extJwt: OTHER_SIGNER }
  const { rules, token, refresh, last } = await world(t, { session: { secondary } })
  rules.policy = () => aPolicy({ secondary: { requireExtJwt: OTHER_SIGNER } })
  for (const signer of [undefined, externalSigner({ id: OTHER_SIGNER, enabled: false })]) {
    rules.signer = () => signer
    assert.equal((await refusalOf(refresh(token))).code, INVALID)
    assert.equal((last() as { reason?: string }).reason, 'signer-disabled')
  }
})

test('R047: admin status in the new token is that of now', async (t) => {
  const { store, token, refresh } = await world(t)
  const { accessToken, refreshToken } = await refresh(token)
  assert.equal(decodeJwt(accessToken)['z_ia'], false)
  await store.identities.remove(anIdentity().id)
  await store.identities.insert(anIdentity({ isAdmin: true }))
  await store.authenticators.insert(PASSWORD)
  assert.equal(decodeJwt((await refresh(refreshToken)).accessToken)['z_ia'], true)
})

test('D-34: an identity that is disabled while its tokens are signed gets none of them', async (t) => {
  // Attack: a refresh that has passed every check commits after the administrator has ended all sessions.
  const here = await world(t)
  here.meanwhile.happen = async () => CHANGES['is disabled']?.(here)
  assert.equal((await refusalOf(here.refresh(here.token))).code, INVALID)
  assert.equal((await here.stored(here.token))?.spent, undefined)
})

test('D-34: a session that ends while its tokens are signed stays ended', async (t) => {
  const { store, meanwhile, token, refresh } = await world(t)
  meanwhile.happen = () => store.apiSessions.remove(SESSION)
  assert.equal((await refusalOf(refresh(token))).code, INVALID)
  assert.equal(await store.apiSessions.find(SESSION), undefined)
})

test('a token that another refresh spends at the same time is refused, and not treated as stolen', async (t) => {
  const { store, meanwhile, token, refresh, happened } = await world(t)
  meanwhile.happen = () => {
    meanwhile.happen = async () => undefined
    return refresh(token)
  }
  assert.equal((await refusalOf(refresh(token))).code, INVALID)
  assert.notEqual(await store.apiSessions.find(SESSION), undefined)
  assert.deepEqual(happened(), ['token.refreshed', 'token.refused'])
})
