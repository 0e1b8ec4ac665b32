/**
 * What the commands have in common: which login they are about, which code they use, and how an answer of the real
 * thing is compared with the word of the model.
 */
import assert from 'node:assert/strict'
import type fc from 'fast-check'
import type { Login, Model, Word } from './model.ts'
import { type Name, passwordOf } from './surroundings.ts'
import type { Outcome, World } from './world.ts'

export type LoginCommand = fc.AsyncCommand<Model, World>

type Run = (model: Model, world: World) => Promise<void>

export const command = (text: string, run: Run): LoginCommand => ({
  check: () => true,
  run,
  toString: () => text,
})

/** The external JWT that comes along. */
export type Jwt = 'own' | 'none' | 'other' | 'forged'

export const CODE_KINDS = [
  ...['now', 'now', 'now', 'before', 'after', 'recovery', 'recovery', 'recovery'],
  ...[
    'too early',
    'too late',
    'again',
    'spent recovery',
    'spent recovery',
    'of the other',
    'recovery of the other',
  ],
] as const
export type CodeKind = (typeof CODE_KINDS)[number]

export function codeFor(
  model: Model,
  { owner = model.people.alice }: Login,
  kind: CodeKind,
): string {
  const other = model.people[otherOf(owner.name)]
  const texts: Record<CodeKind, () => string | undefined> = {
    now: () => model.codeOf(owner),
    before: () => model.codeOf(owner, -1),
    after: () => model.codeOf(owner, 1),
    'too early': () => model.codeOf(owner, 2),
    'too late': () => model.codeOf(owner, -2),
    again: () => owner.app?.lastCode,
    recovery: () => owner.app?.unspent[0]?.toLowerCase(),
    'spent recovery': () => owner.app?.spent[0],
    'of the other': () => model.codeOf(other),
    'recovery of the other': () => other.app?.unspent[0],
  }
  return texts[kind]() ?? '111111'
}

export function compare(model: Model, login: Login, outcome: Outcome, expected: Word): void {
  assert.equal(outcome.word, expected)
  if (outcome.word === 'code') model.completed(login, outcome.code)
  if (outcome.word === 'tokens') model.redeemed(login, outcome)
  if (outcome.word === 'more') {
    assert.equal(outcome.isEnrolled, login.owner?.app?.isVerified === true)
  }
}

export function allowOnly(outcomes: readonly Outcome[], words: readonly Word[]): void {
  for (const { word } of outcomes) assert.ok(words.includes(word), `${word}, not ${words.join()}`)
}

/** D-18: nobody is turned away before ten guesses in a row; from then on the blocks are the product's own affair. */
export function isTurnedAway(
  { owner }: Pick<Login, 'owner'>,
  { word }: Outcome,
  atOnce: number,
): boolean {
  if (word !== 'RATE_LIMITED') return false
  assert.ok(owner !== undefined && owner.guesses + atOnce > 10, 'turned away too early')
  return true
}

/** One that can use the step, mostly, and a new one when there is none; else any login, whatever became of it. */
export function pick(
  model: Model,
  world: World,
  number: number,
  isUseful: (login: Login) => boolean = (login) => model.isOpen(login),
): Login {
  const useful = model.logins.filter(isUseful)
  if (useful.length === 0) model.begin(world.begin())
  const { logins } = model
  const from = number < 10 && useful.length > 0 ? useful : logins
  const login = from[from.length - 1 - (number % Math.min(3, from.length))]
  assert.ok(login !== undefined)
  return login
}

/** One that waits for a second factor, mostly; where there is none, somebody logs in first. */
export async function pickPartial(model: Model, world: World, number: number): Promise<Login> {
  const isPartial = (login: Login) => login.owner !== undefined && model.isOpen(login)
  if (!model.logins.some(isPartial)) {
    await logIn(model, world, pick(model, world, 0), number % 2 === 0 ? 'alice' : 'bob')
  }
  return pick(model, world, number, isPartial)
}

/** Another login of the same owner, mostly; where there is none, he logs in once more. */
export async function pickBeside(
  model: Model,
  world: World,
  first: Login,
  number: number,
): Promise<Login> {
  const { owner } = first
  if (owner === undefined || number >= 10) return pickPartial(model, world, number)
  const isBeside = (login: Login) => login !== first && login.owner === owner && model.isOpen(login)
  const found = model.logins.findLast(isBeside)
  if (found !== undefined) return found
  const login = model.begin(world.begin())
  await logIn(model, world, login, owner.name)
  return login
}

/** The right password, with the JWT that may be demanded. */
export async function logIn(model: Model, world: World, login: Login, name: Name): Promise<void> {
  const body = { username: name, password: passwordOf(name), jwt: world.jwts[name] }
  const outcome = await world.password(login.id, body)
  compare(model, login, outcome, model.password(login, model.people[name], true, name))
}

/** One whose owner has an app to prove, mostly. */
export async function pickPending(model: Model, world: World, number: number): Promise<Login> {
  const login = await pickPartial(model, world, number)
  if (
    number < 10 &&
    model.startEnrollment(login) === 'enrolling' &&
    login.owner?.app?.startedBy !== login
  ) {
    const started = await world.startEnrollment(login.id)
    assert.ok(started.word === 'enrolling')
    model.enrolling(login, started.url, started.recoveryCodes)
  }
  return login
}

/** One whose newest code is good, mostly. */
export function pickCoded(model: Model, world: World, number: number): Login {
  return pick(model, world, number, ({ codes }) => codes.at(-1)?.state === 'live')
}

export const otherOf = (name: Name): Name => (name === 'alice' ? 'bob' : 'alice')
