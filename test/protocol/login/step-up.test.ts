/**
 * A client that needs a stronger login asks for it with `acr_values`, and is told so with RFC 9470 where it is missing.
 * D-460, D-461; OIDC Core §3.1.2.1.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { parseChallenges } from '../../../src/protocol/challenge.ts'
import {
  enrolledPerson,
  PASSWORD,
  scanned,
  submitCode,
  verifyEnrollment,
} from '../../support/login/authenticator-app.ts'
import { bearer, beginLogin, exchangeOf, submitPassword } from '../../support/login/login.ts'
import { administrate, assertRefused, type CreatedIdentity } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const ANY = 'urn:latchkey:acr:2fa'
const CODE = 'urn:latchkey:acr:totp'
const ONE = 'urn:latchkey:acr:1fa'

test('a stronger login', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const admin = await administrate(service)

  /** A login up to the password, with the given `acr_values`. */
  async function asking(acrValues: string | undefined, person: CreatedIdentity) {
    const begun = await beginLogin(service, { acr_values: acrValues })
    const { username } = person
    const reply = await submitPassword(service, begun.authRequestId, {
      username,
      password: PASSWORD,
    })
    return { ...begun, reply }
  }

  async function claimsAfter(
    login: { readonly verifier: string },
    reply: Parameters<typeof exchangeOf>[2],
  ) {
    const tokens = (await exchangeOf(service, login, reply)).json()
    return { access: decodeJwt(tokens.access_token), id: decodeJwt(tokens.id_token), tokens }
  }

  await t.test('acr_values', async (t) => {
    await t.test(
      'that a password reaches, or that nobody knows, ask for nothing else',
      async () => {
        const person = await admin.createIdentity({ password: PASSWORD })
        for (const acrValues of [undefined, ONE, `phr ${ONE}`, 'unknown', '']) {
          const login = await asking(acrValues, person)
          const { access, id } = await claimsAfter(login, login.reply)
          assert.deepEqual([access['acr'], id['acr']], [ONE, ONE], String(acrValues))
        }
      },
    )

    for (const [acrValues, typeIds] of [
      [ANY, ['MFA', 'PASSKEY']],
      [CODE, ['MFA']],
      ['phr', ['PASSKEY']],
      [`phr ${CODE}`, ['MFA', 'PASSKEY']],
    ] as const) {
      await t.test(
        `${acrValues} leave ${typeIds.join(' or ')} to set up, though the policy demands nothing`,
        async () => {
          const person = await admin.createIdentity({ password: PASSWORD })
          const { reply } = await asking(acrValues, person)
          assert.equal(reply.status, 200, reply.text)
          const { authQueries } = reply.json() as { authQueries: readonly { typeId: string }[] }
          assert.deepEqual(
            authQueries.map(({ typeId }) => typeId),
            typeIds,
          )
        },
      )
    }

    await t.test('end a login at the class that was asked for', async () => {
      const person = await admin.createIdentity({ password: PASSWORD })
      const login = await asking(CODE, person)
      const { app } = await scanned(service, login.authRequestId)
      const done = await verifyEnrollment(service, login.authRequestId, app.code())
      const { access, id } = await claimsAfter(login, done)
      assert.deepEqual([access['acr'], id['acr']], [CODE, CODE])
    })

    // Attack: with the password alone, answer a demand for any factor by enrolling a new one.
    await t.test(
      'are not met by a factor that was set up instead of the one that is there',
      async () => {
        const person = await enrolledPerson(service, admin)
        const { reply, authRequestId } = await asking(ANY, person)
        const { authQueries } = reply.json() as { authQueries: readonly { typeId: string }[] }
        assert.deepEqual(
          authQueries.map(({ typeId }) => typeId),
          ['MFA'],
        )
        const refused = await service.call('/oidc/login/passkey/enroll', {
          json: { authRequestId },
        })
        assertRefused(refused, 409, 'FACTOR_NOT_PROVEN')
        const done = await submitCode(service, authRequestId, person.app.nextCode())
        assert.equal(done.status, 302, done.text)
      },
    )

    await t.test('repeated are refused', async () => {
      const reply = await service.call(
        `/oidc/authorization?${new URLSearchParams([
          ['response_type', 'code'],
          ['client_id', 'service'],
          ['redirect_uri', 'http://127.0.0.1:9876/callback'],
          ['scope', 'openid'],
          ['code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'],
          ['code_challenge_method', 'S256'],
          ['acr_values', ONE],
          ['acr_values', ANY],
        ])}`,
      )
      const answer = new URL(reply.headers.location ?? '').searchParams
      assert.equal(answer.get('error'), 'invalid_request')
      assert.equal(answer.get('error_description'), 'acr_values is repeated')
    })
  })

  await t.test('RFC 9470: a session that its policy has outgrown', async (t) => {
    await t.test('is told which class to ask for, and gets in after asking for it', async () => {
      const policy = await admin.createPolicy({})
      const person = await admin.createIdentity({ password: PASSWORD, policy })
      const first = await asking(undefined, person)
      const { tokens } = await claimsAfter(first, first.reply)
      await admin.act('PATCH', `/auth-policies/${policy}`, { secondary: { requireTotp: true } })
      const refused = await service.call(
        '/edge/client/v1/current-identity',
        bearer(tokens.access_token),
      )
      assert.equal(refused.status, 401, refused.text)
      const [invalid, stepUp] = parseChallenges(refused.headers['www-authenticate'] ?? '') ?? []
      assert.equal(invalid?.parameters.get('error'), 'invalid')
      assert.equal(stepUp?.parameters.get('error'), 'insufficient_user_authentication')
      assert.equal(stepUp?.parameters.get('acr_values'), CODE)

      const login = await asking(stepUp?.parameters.get('acr_values'), person)
      const { app } = await scanned(service, login.authRequestId)
      const done = await verifyEnrollment(service, login.authRequestId, app.code())
      const again = await claimsAfter(login, done)
      const call = bearer(again.tokens.access_token)
      assert.equal((await service.call('/edge/client/v1/current-identity', call)).status, 200)
    })

    await t.test(
      'an administrator sees the class, the factors and the time of a token by introspection',
      async () => {
        const person = await admin.createIdentity({ password: PASSWORD })
        const login = await asking(undefined, person)
        const { tokens, access } = await claimsAfter(login, login.reply)
        const asked = {
          form: [['token', tokens.access_token]] as const,
          headers: { authorization: `Bearer ${admin.token}` },
        }
        const reply = (await service.call('/oidc/introspect', asked)).json()
        assert.deepEqual(
          [reply['acr'], reply['amr'], reply['auth_time']],
          [ONE, ['pwd'], access['auth_time']],
        )
      },
    )
  })
})
