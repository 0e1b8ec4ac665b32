/** One thing after the other: the steps of a login, right and wrong, and what happens around them. */
import assert from 'node:assert/strict'
import { minutes, seconds } from '../../../src/base/time/duration.ts'
import {
  type CodeKind,
  codeFor,
  command,
  compare,
  isTurnedAway,
  type Jwt,
  logIn,
  otherOf,
  pick,
  pickCoded,
  pickPartial,
  pickPending,
} from './command.ts'
import { type Name, passwordOf } from './surroundings.ts'

export const begin = command('begin()', async (model, world) => {
  model.begin(world.begin())
})

export const password = ([i, name, isRight, shown]: readonly [number, Name, boolean, Jwt]) =>
  command(`password(${i}, ${name}, ${isRight}, ${shown})`, async (model, world) => {
    const login = pick(model, world, i)
    const jwtOf = shown === 'own' ? name : shown === 'other' ? otherOf(name) : undefined
    const token = jwtOf === undefined ? undefined : world.jwts[jwtOf]
    const outcome = await world.password(login.id, {
      username: name,
      password: isRight ? passwordOf(name) : passwordOf(otherOf(name)),
      jwt: shown === 'forged' ? world.jwts.forged : token,
    })
    compare(model, login, outcome, model.password(login, model.people[name], isRight, jwtOf))
  })

export const submitCode = ([i, kind]: readonly [number, CodeKind]) =>
  command(`totp(${i}, ${kind})`, async (model, world) => {
    const login = await pickPartial(model, world, i)
    const code = codeFor(model, login, kind)
    const outcome = await world.totp(login.id, code)
    if (isTurnedAway(login, outcome, 1)) return
    compare(model, login, outcome, model.totp(login, code))
  })

/** Neither six digits nor a recovery code. */
const NO_CODE = 'no code at all'

/** Up to the tenth wrong code, and beyond. */
export const guess = ([i, times]: readonly [number, number]) =>
  command(`guess(${i}, ${times})`, async (model, world) => {
    const login = await pickPartial(model, world, i)
    for (let n = 0; n < times; n += 1) {
      const outcome = await world.totp(login.id, NO_CODE)
      if (isTurnedAway(login, outcome, 1)) continue
      compare(model, login, outcome, model.totp(login, NO_CODE))
    }
  })

/** A whole login of somebody who sets up an app, as far as it goes. */
export const enroll = (name: Name) =>
  command(`enroll(${name})`, async (model, world) => {
    const login = pick(model, world, 0)
    await logIn(model, world, login, name)
    const started = await world.startEnrollment(login.id)
    assert.equal(started.word, model.startEnrollment(login))
    if (started.word !== 'enrolling') return
    model.enrolling(login, started.url, started.recoveryCodes)
    const code = model.codeOf(model.people[name])
    const verified = await world.verifyEnrollment(login.id, code)
    if (isTurnedAway(login, verified, 1)) return
    compare(model, login, verified, model.verifyEnrollment(login, code))
  })

export const startEnrollment = (i: number) =>
  command(`startEnrollment(${i})`, async (model, world) => {
    const login = await pickPartial(model, world, i)
    const outcome = await world.startEnrollment(login.id)
    assert.equal(outcome.word, model.startEnrollment(login))
    if (outcome.word === 'enrolling') model.enrolling(login, outcome.url, outcome.recoveryCodes)
  })

export const verifyEnrollment = ([i, kind]: readonly [number, CodeKind]) =>
  command(`verifyEnrollment(${i}, ${kind})`, async (model, world) => {
    const login = await pickPending(model, world, i)
    const code = codeFor(model, login, kind)
    const outcome = await world.verifyEnrollment(login.id, code)
    if (isTurnedAway(login, outcome, 1)) return
    compare(model, login, outcome, model.verifyEnrollment(login, code))
  })

export const cancelEnrollment = (i: number) =>
  command(`cancelEnrollment(${i})`, async (model, world) => {
    const login = await pickPartial(model, world, i)
    const outcome = await world.cancelEnrollment(login.id)
    assert.equal(outcome.word, model.cancelEnrollment(login))
  })

/** The newest code of a login, or the one before it. */
export const exchange = ([i, back, isRight]: readonly [number, number, boolean]) =>
  command(`exchange(${i}, ${back}, ${isRight})`, async (model, world) => {
    const login = pickCoded(model, world, i)
    const code = login.codes.at(-1 - back)
    if (code === undefined) return
    const verifier = isRight ? login.verifier : `${login.verifier.slice(1)}x`
    const outcome = await world.exchange(code.text, verifier)
    compare(model, login, outcome, model.exchange(login, code, isRight))
  })

export const passTime = (count: number) =>
  command(`passTime(${count})`, async (_, world) => world.passTime(seconds(count)))

export const demand = ([name, password, totp, jwt]: readonly [Name, boolean, boolean, boolean]) =>
  command(`demand(${name}, ${password}, ${totp}, ${jwt})`, async (model, world) => {
    model.people[name].demanded = { password, totp, jwt }
    await world.demand(name, { password, totp, jwt })
  })

export const disable = ([name, forMinutes]: readonly [Name, number]) =>
  command(`disable(${name}, ${forMinutes})`, async (model, world) => {
    const until = forMinutes === 0 ? Number.POSITIVE_INFINITY : minutes(forMinutes)
    model.people[name].disabledUntil = world.clock.now() + until
    model.people[name].voids += 1
    assert.deepEqual(await world.disable(name, forMinutes), { word: 'done' })
  })

export const enable = (name: Name) =>
  command(`enable(${name})`, async (model, world) => {
    model.people[name].disabledUntil = undefined
    assert.deepEqual(await world.enable(name), { word: 'done' })
  })

export const removeMfa = (name: Name) =>
  command(`removeMfa(${name})`, async (model, world) => {
    const person = model.people[name]
    const expected = person.app === undefined ? 'MFA_NOT_ENROLLED' : 'done'
    assert.deepEqual(await world.removeMfa(name), { word: expected })
    if (person.app !== undefined) person.guesses = 0
    person.app = undefined
  })

/** D-13: a second factor that stands proven, because a JWT is demanded meanwhile, and then the password of the other. */
export const changeHands = (i: number) =>
  command(`changeHands(${i})`, async (model, world) => {
    const login = await pickPartial(model, world, i)
    const { owner } = login
    if (owner === undefined) return
    const demanded = { ...owner.demanded, jwt: true }
    owner.demanded = demanded
    await world.demand(owner.name, demanded)
    const code = codeFor(model, login, 'recovery')
    const proof = await world.totp(login.id, code)
    if (isTurnedAway(login, proof, 1)) return
    compare(model, login, proof, model.totp(login, code))
    await logIn(model, world, login, otherOf(owner.name))
  })
