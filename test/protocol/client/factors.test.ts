/** Logins that ask for more than one thing, through `latchkey/client`: SPEC Authentication 3 to 5; D-14, D-18, D-19. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import {
  CodeRefused,
  FactorRequired,
  LoginRefused,
  RateLimited,
  Refused,
  SessionEnded,
} from '../../../src/client/client.ts'
import {
  CURRENT_IDENTITY,
  connectTo,
  failureOf,
  whoIs,
  withPassword,
} from '../../support/client/client-sessions.ts'
import { registerIdp } from '../../support/idp/jwt-login.ts'
import {
  authenticatorApp,
  enrolledPerson,
  PASSWORD,
  totpPolicy,
} from '../../support/login/authenticator-app.ts'
import { administrate } from '../../support/management.ts'
import { demand } from '../../support/policies.ts'
import { startService } from '../../support/service.ts'

test('TOTP in a login', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const client = await connectTo(service)

  await t.test('is asked for with a code', async () => {
    const person = await enrolledPerson(service, admin)
    const asked: number[] = []
    const session = await client.logIn(withPassword(person), {
      totp: ({ attempt }) => {
        asked.push(attempt)
        return person.app.nextCode()
      },
    })
    assert.equal(await whoIs(session), person.name)
    assert.deepEqual(asked, [1])
    assert.deepEqual(session.claims().amr, ['pwd', 'otp', 'mfa'])
  })

  await t.test('takes a recovery code too', async () => {
    const person = await enrolledPerson(service, admin)
    const [code = ''] = person.recoveryCodes
    const session = await client.logIn(withPassword(person), { totp: async () => code })
    assert.equal(await whoIs(session), person.name)
  })

  await t.test('asks again after a wrong code, and takes the right one', async () => {
    const person = await enrolledPerson(service, admin)
    const session = await client.logIn(withPassword(person), {
      totp: ({ attempt }) => (attempt === 1 ? person.app.wrongCode() : person.app.nextCode()),
    })
    assert.equal(await whoIs(session), person.name)
  })

  await t.test('D-151: asks three times and no more', async () => {
    const person = await enrolledPerson(service, admin)
    let asked = 0
    const login = client.logIn(withPassword(person), {
      totp: () => {
        asked += 1
        return person.app.wrongCode()
      },
    })
    const error = await failureOf(login, CodeRefused)
    assert.equal(error.code, 'MFA_INVALID_TOKEN')
    assert.equal(asked, 3)
  })

  await t.test('ends with what the program throws when it is asked', async () => {
    const person = await enrolledPerson(service, admin)
    const gone = new Error('the person has left')
    const login = client.logIn(withPassword(person), { totp: () => Promise.reject(gone) })
    await assert.rejects(login, gone)
  })

  await t.test('without a way to get a code the login says what is missing', async () => {
    const person = await enrolledPerson(service, admin)
    const error = await failureOf(client.logIn(withPassword(person)), FactorRequired)
    const [query] = error.queries
    assert.equal(query?.typeId, 'MFA')
    assert.equal(error.code, 'FACTOR_REQUIRED')
  })

  await t.test('R086: after ten wrong codes the answer says how long to wait', async () => {
    const person = await enrolledPerson(service, admin)
    const wrong = () => client.logIn(withPassword(person), { totp: () => person.app.wrongCode() })
    for (let i = 0; i < 3; i++) await failureOf(wrong(), CodeRefused)
    const error = await failureOf(wrong(), RateLimited)
    assert.equal(error.code, 'RATE_LIMITED')
    assert.equal(error.status, 429)
    assert.equal(error.retryAfterSeconds, 30)
  })
})

test('TOTP that is enrolled inside the login', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const client = await connectTo(service)
  const policy = await totpPolicy(admin)
  const newPerson = () => admin.createIdentity({ password: PASSWORD, policy })

  await t.test('the person scans it, and the first code finishes the login', async () => {
    const person = await newPerson()
    let codes: readonly string[] = []
    const session = await client.logIn(withPassword(person), {
      enrollTotp: ({ provisioningUrl, recoveryCodes }) => {
        codes = recoveryCodes
        return authenticatorApp(provisioningUrl, service.clock).code()
      },
    })
    assert.equal(await whoIs(session), person.name)
    assert.equal(codes.length, 20)
    const [code = ''] = codes
    const next = await client.logIn(withPassword(person), { totp: () => code })
    assert.equal(await whoIs(next), person.name)
  })

  await t.test('a wrong first code is asked for again, of the same enrollment', async () => {
    const person = await newPerson()
    const shown = new Set<string>()
    const session = await client.logIn(withPassword(person), {
      enrollTotp: ({ provisioningUrl, attempt }) => {
        shown.add(provisioningUrl)
        const app = authenticatorApp(provisioningUrl, service.clock)
        return attempt < 3 ? app.wrongCode() : app.code()
      },
    })
    assert.equal(await whoIs(session), person.name)
    assert.equal(shown.size, 1)
  })

  await t.test('a user who gives up has no enrollment, and the next login offers one', async () => {
    const person = await newPerson()
    const enroll = () => {
      throw new Error('no phone here')
    }
    await assert.rejects(client.logIn(withPassword(person), { enrollTotp: enroll }), /no phone/)
    const error = await failureOf(client.logIn(withPassword(person)), FactorRequired)
    const [query] = error.queries
    assert.equal(query?.typeId === 'MFA' && query.isTotpEnrolled, false)
  })
})

test('a secondary external JWT', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const client = await connectTo(service)
  const idp = await registerIdp(t, service, admin, { issuer: 'https://second.example/' })
  const policy = await admin.createPolicy({ secondary: { requireExtJwt: idp.id } })
  let count = 0
  const newPerson = async () => {
    count += 1
    const externalId = `person-${count}`
    const person = await admin.createIdentity({ password: PASSWORD, policy, externalId })
    return { ...person, externalId }
  }

  await t.test('is asked for by its signer, and goes with every call', async () => {
    const person = await newPerson()
    const asked: string[] = []
    const session = await client.logIn(withPassword(person), {
      secondaryJwt: ({ id, issuer }) => {
        asked.push(id, issuer)
        return idp.jwt(person.externalId)
      },
    })
    assert.equal(await whoIs(session), person.name)
    assert.equal(await whoIs(session), person.name)
    assert.deepEqual(asked, [idp.id, idp.issuer])
  })

  await t.test('is fetched again when it has expired, once for all callers', async () => {
    const person = await newPerson()
    let asked = 0
    const session = await client.logIn(withPassword(person), {
      secondaryJwt: () => {
        asked += 1
        const exp = Math.floor(service.clock.now() / 1_000) + 120
        return idp.jwt(person.externalId, { exp })
      },
    })
    service.clock.advance(minutes(4))
    const names = await Promise.all(Array.from({ length: 10 }, () => whoIs(session)))
    assert.deepEqual(new Set(names), new Set([person.name]))
    assert.equal(asked, 2)
  })

  await t.test('R069: one that is not accepted ends the login, with the challenge', async () => {
    const person = await newPerson()
    const login = client.logIn(withPassword(person), {
      secondaryJwt: () => idp.forged(person.externalId),
    })
    const error = await failureOf(login, LoginRefused)
    assert.equal(error.code, 'UNAUTHORIZED')
    const [challenge] = error.challenges
    assert.equal(challenge?.parameters.get('realm'), 'service-secondary-ext-jwt')
    assert.equal(challenge?.parameters.get('error'), 'invalid')
  })

  await t.test('without a way to get one the login says which signer it is', async () => {
    const person = await newPerson()
    const error = await failureOf(client.logIn(withPassword(person)), FactorRequired)
    const [query] = error.queries
    assert.equal(query?.typeId === 'EXT-JWT' && query.issuer, idp.issuer)
  })

  await t.test('a restored session asks for a new one', async () => {
    const person = await newPerson()
    const secondaryJwt = () => idp.jwt(person.externalId)
    const session = await client.logIn(withPassword(person), { secondaryJwt })
    assert.equal(JSON.stringify(session.save()).includes(await secondaryJwt()), false)
    const error = await failureOf(
      client.restore(session.save()).call(CURRENT_IDENTITY),
      FactorRequired,
    )
    assert.equal(error.status, 401)
    assert.equal(await whoIs(client.restore(session.save(), { secondaryJwt })), person.name)
  })

  await t.test('comes before a TOTP code where both are asked for', async () => {
    const both = await admin.createPolicy({
      secondary: { requireExtJwt: idp.id, requireTotp: true },
    })
    const person = await admin.createIdentity({
      password: PASSWORD,
      policy: both,
      externalId: 'person-with-both',
    })
    const session = await client.logIn(withPassword(person), {
      secondaryJwt: () => idp.jwt('person-with-both'),
      enrollTotp: ({ provisioningUrl }) => authenticatorApp(provisioningUrl, service.clock).code(),
    })
    assert.equal(await whoIs(session), person.name)
  })
})

test('a policy that starts to demand TOTP ends sessions that have not proven it', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const client = await connectTo(service)
  const policy = await admin.createPolicy()
  const person = await admin.createIdentity({ password: PASSWORD, policy })
  const session = await client.logIn(withPassword(person))
  assert.equal(await whoIs(session), person.name)
  await demand(admin, policy, { requireTotp: true })
  const error = await failureOf(session.call(CURRENT_IDENTITY), SessionEnded)
  assert.equal(error.code, 'invalid_grant')
  assert.ok(error instanceof Refused)
})
