/**
 * Several things at the same moment. What each of them is answered depends on who was first; what must hold whoever
 * was: one of them gains by it at the most, and all of them together have an order in which the model allows them.
 */
import assert from 'node:assert/strict'
import {
  allowOnly,
  type CodeKind,
  codeFor,
  command,
  compare,
  isTurnedAway,
  type Jwt,
  otherOf,
  pick,
  pickBeside,
  pickCoded,
  pickPartial,
  pickPending,
} from './command.ts'
import type { Login, Model, Word } from './model.ts'
import { NAMES, type Name, passwordOf } from './surroundings.ts'
import type { Outcome } from './world.ts'

/** R028: the same form, sent three times. */
export const passwordsAtOnce = ([i, name, jwt]: readonly [number, Name, Jwt]) =>
  command(`passwordsAtOnce(${i}, ${name}, ${jwt})`, async (model, world) => {
    const login = pick(model, world, i)
    const isOwn = jwt === 'own'
    const body = {
      username: name,
      password: passwordOf(name),
      jwt: isOwn ? world.jwts[name] : undefined,
    }
    const outcomes = await atOnce(3, () => world.password(login.id, body))
    const expected = model.password(login, model.people[name], true, isOwn ? name : undefined)
    if (expected === 'more') {
      assert.ok(outcomes.some(({ word }) => word === 'more'))
      return allowOnly(outcomes, ['more', 'INVALID_AUTH_REQUEST'])
    }
    compareOne(model, login, outcomes, expected, ['INVALID_AUTH_REQUEST'])
  })

/** R085: one code, at the same moment, on one login or on two; only one of them may gain by it. */
export const codesAtOnce = ([i, j, kind]: readonly [number, number, CodeKind]) =>
  command(`codesAtOnce(${i}, ${j}, ${kind})`, async (model, world) => {
    const first = await pickPartial(model, world, i)
    const logins = [first, await pickBeside(model, world, first, j), first]
    const code = codeFor(model, first, kind)
    const could = new Set(logins.filter((login) => model.wouldTake(login, code)))
    const answers = await Promise.all(
      logins.map(async (login) => ({ login, outcome: await world.totp(login.id, code) })),
    )
    const judged = answers.filter(
      ({ login, outcome }) => !isTurnedAway(login, outcome, answers.length),
    )
    const winners = judged.filter(({ outcome }) => TAKEN.includes(outcome.word))
    assert.ok(winners.length <= 1, 'one code was taken twice')
    if (could.size > 0 && judged.length === answers.length) assert.equal(winners.length, 1)
    for (const { login, outcome } of winners) {
      assert.ok(could.has(login), 'a code was taken where it proves nothing')
      compare(model, login, outcome, model.totp(login, code))
    }
    for (const { login, outcome } of judged.filter((answer) => !winners.includes(answer))) {
      allowOnly([outcome], ['MFA_INVALID_TOKEN', 'INVALID_AUTH_REQUEST'])
      if (login.owner !== undefined) login.owner.guesses += 1
      if (outcome.word === 'MFA_INVALID_TOKEN') model.countWrongCode(login)
    }
  })

/** The words of a code that was taken: SPEC Auth request; a demanded JWT may still be missing (D-14). */
const TAKEN: readonly Word[] = ['code', 'more', 'UNAUTHORIZED']

export const verificationsAtOnce = ([i, j]: readonly [number, number]) =>
  command(`verificationsAtOnce(${i}, ${j})`, async (model, world) => {
    const first = await pickPending(model, world, i)
    const logins = [first, await pickBeside(model, world, first, j), first]
    // Somebody else's app and this code is an ordinary wrong code.
    if (logins.some(({ owner }) => owner !== first.owner)) return
    const code = codeFor(model, first, 'now')
    const could = logins.filter((login) => model.wouldVerify(login, code))
    if (could.length === 0) return
    const answers = await Promise.all(
      logins.map(async (login) => ({
        login,
        outcome: await world.verifyEnrollment(login.id, code),
      })),
    )
    const judged = answers.filter(
      ({ login, outcome }) => !isTurnedAway(login, outcome, answers.length),
    )
    const winners = judged.filter(({ outcome }) => TAKEN.includes(outcome.word))
    assert.ok(winners.length <= 1, 'an enrollment was verified twice')
    if (judged.length === answers.length) assert.equal(winners.length, 1)
    for (const { login, outcome } of winners) {
      compare(model, login, outcome, model.verifyEnrollment(login, code))
    }
    for (const { outcome } of judged.filter((answer) => !winners.includes(answer))) {
      allowOnly([outcome], ['MFA_ENROLLMENT_NOT_STARTED', 'INVALID_AUTH_REQUEST'])
      if (first.owner !== undefined) first.owner.guesses += 1
    }
  })

/** R030. */
export const exchangesAtOnce = (i: number) =>
  command(`exchangesAtOnce(${i})`, async (model, world) => {
    const login = pickCoded(model, world, i)
    const code = login.codes.at(-1)
    if (code === undefined) return
    const outcomes = await atOnce(3, () => world.exchange(code.text, login.verifier))
    compareOne(model, login, outcomes, model.exchange(login, code, true), ['INVALID_GRANT'])
  })

/** D-13: the second factor of one, and the password of the other, at the same moment. */
export const takeOver = ([i, by]: readonly [number, number]) =>
  command(`takeOver(${i}, ${by})`, async (model, world) => {
    const login = await pickPartial(model, world, i)
    const { owner } = login
    if (owner === undefined || owner.demanded.jwt) return
    const thief = model.people[otherOf(owner.name)]
    const code = codeFor(model, login, 'now')
    if (thief.demanded.jwt || !model.isOpenFor(login, thief)) return
    if (!model.wouldTake(login, code)) return
    const { name: username } = thief
    const body = { username, password: passwordOf(username), jwt: undefined }
    const [proof, password] = await Promise.all([
      after(by, () => world.totp(login.id, code)),
      after(-by, () => world.password(login.id, body)),
    ])
    // The code may be judged as that of the thief, when the login is his by then.
    const judged = owner.guesses > thief.guesses ? { owner } : { owner: thief }
    if (isTurnedAway(judged, proof, 1) || proof.word !== 'code') {
      allowOnly([proof], ['RATE_LIMITED', 'INVALID_AUTH_REQUEST', 'MFA_INVALID_TOKEN'])
      for (const person of [owner, thief]) person.guesses += 1
      compare(model, login, password, model.password(login, thief, true, undefined))
      if (proof.word === 'MFA_INVALID_TOKEN') model.countWrongCode(login)
      return
    }
    allowOnly([password], ['INVALID_AUTH_REQUEST'])
    compare(model, login, proof, model.totp(login, code))
  })

/** D-13: the passwords of both at the same moment. Whoever was last is the owner, and brings nothing of the other. */
export const bothAtOnce = ([i, by]: readonly [number, number]) =>
  command(`bothAtOnce(${i}, ${by})`, async (model, world) => {
    const login = pick(model, world, i)
    const people = NAMES.map((name) => model.people[name])
    if (people.some((one) => one.demanded.jwt || !model.isOpenFor(login, one))) return
    const answers = await Promise.all(
      people.map(async (person, n) => {
        const { name: username } = person
        const body = { username, password: passwordOf(username), jwt: undefined }
        const post = () => world.password(login.id, body)
        return { person, outcome: await after(n === 0 ? by : -by, post) }
      }),
    )
    const counted = answers.filter(({ outcome }) => outcome.word !== 'INVALID_AUTH_REQUEST')
    assert.ok(counted.length > 0, 'both were refused')
    const hasCode = counted.find(({ outcome }) => outcome.word === 'code')
    const owner = hasCode?.person.name ?? (await world.ownerOf(login.id))
    const inOrder = counted.toSorted((one) => (one.person.name === owner ? 1 : -1))
    for (const { person, outcome } of inOrder) {
      compare(model, login, outcome, model.password(login, person, true, undefined))
    }
  })

/** D-20: the second code is asked for while the first is exchanged; only one of them may be good. */
export const secondCodeAndExchange = ([i, by]: readonly [number, number]) =>
  command(`secondCodeAndExchange(${i}, ${by})`, async (model, world) => {
    const login = pick(model, world, i, ({ byEnrollment }) => byEnrollment)
    const first = login.codes.at(-1)
    const code = codeFor(model, login, 'now')
    if (first?.state !== 'live' || !login.byEnrollment || !model.wouldTake(login, code)) return
    const [tokens, proof] = await Promise.all([
      after(by, () => world.exchange(first.text, login.verifier)),
      after(-by, () => world.totp(login.id, code)),
    ])
    if (isTurnedAway(login, proof, 1)) {
      compare(model, login, tokens, model.exchange(login, first, true))
      return
    }
    if (proof.word === 'code') {
      assert.equal(tokens.word, 'INVALID_GRANT')
      compare(model, login, proof, model.totp(login, code))
      return
    }
    allowOnly([proof], ['INVALID_AUTH_REQUEST'])
    if (login.owner !== undefined) login.owner.guesses += 1
    compare(model, login, tokens, model.exchange(login, first, true))
  })

/** Of several at once one is answered as a single one would be, and the others with one of these. */
function compareOne(
  model: Model,
  login: Login,
  outcomes: readonly Outcome[],
  expected: Word,
  others: readonly Word[],
): void {
  const chosen = outcomes.findIndex(({ word }) => word === expected)
  const outcome = outcomes[chosen]
  assert.ok(outcome !== undefined, `nobody was answered ${expected}`)
  compare(model, login, outcome, expected)
  const isSuccess = expected === 'code' || expected === 'tokens'
  const rest = outcomes.filter((_, n) => n !== chosen)
  allowOnly(rest, isSuccess ? others : [expected])
}

function atOnce(times: number, post: () => Promise<Outcome>): Promise<readonly Outcome[]> {
  return Promise.all(Array.from({ length: times }, post))
}

/** Posts after that many turns of the others, so that steps meet at every point of their way. */
async function after(turns: number, post: () => Promise<Outcome>): Promise<Outcome> {
  for (let n = 0; n < turns; n += 1) await undefined
  return post()
}
