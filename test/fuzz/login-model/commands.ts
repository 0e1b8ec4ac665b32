/** Everything that can happen to logins, as often as it is worth: what leads on is drawn more often, by repetition. */
import fc from 'fast-check'
import { CODE_KINDS, type Jwt, type LoginCommand } from './command.ts'
import {
  bothAtOnce,
  codesAtOnce,
  exchangesAtOnce,
  passwordsAtOnce,
  secondCodeAndExchange,
  takeOver,
  verificationsAtOnce,
} from './races.ts'
import {
  begin,
  cancelEnrollment,
  changeHands,
  demand,
  disable,
  enable,
  enroll,
  exchange,
  guess,
  passTime,
  password,
  removeMfa,
  startEnrollment,
  submitCode,
  verifyEnrollment,
} from './steps.ts'
import { NAMES } from './surroundings.ts'

export function loginCommands(): fc.Arbitrary<LoginCommand>[] {
  return [
    fc.constant(begin),
    ...repeat(5, fc.tuple(which, who, often, jwt).map(password)),
    ...repeat(5, fc.tuple(which, codeKind).map(submitCode)),
    ...repeat(2, who.map(enroll)),
    which.map(startEnrollment),
    ...repeat(3, fc.tuple(which, codeKind).map(verifyEnrollment)),
    which.map(cancelEnrollment),
    ...repeat(3, fc.tuple(which, fc.nat(1), often).map(exchange)),
    fc.tuple(which, fc.integer({ min: 5, max: 10 })).map(guess),
    ...repeat(2, fc.constantFrom(1, 5, 30, 30, 30, 61, 600).map(passTime)),
    ...repeat(2, fc.tuple(who, often, fc.boolean(), seldom).map(demand)),
    fc.tuple(who, fc.constantFrom(0, 5)).map(disable),
    ...repeat(2, who.map(enable)),
    who.map(removeMfa),
    fc.tuple(which, who, jwt).map(passwordsAtOnce),
    ...repeat(2, fc.tuple(which, which, codeKind).map(codesAtOnce)),
    ...repeat(2, fc.tuple(which, which).map(verificationsAtOnce)),
    ...repeat(2, which.map(exchangesAtOnce)),
    ...repeat(2, fc.tuple(which, lead).map(takeOver)),
    fc.tuple(which, lead).map(bothAtOnce),
    which.map(changeHands),
    ...repeat(2, fc.tuple(which, lead).map(secondCodeAndExchange)),
  ]
}

/** See `pick`. */
const which = fc.nat(11)
const who = fc.constantFrom(...NAMES)
const often = fc.nat(9).map((number) => number > 0)
const seldom = fc.nat(4).map((number) => number === 0)
const jwt = fc.constantFrom<Jwt[]>('own', 'own', 'own', 'none', 'other', 'forged')
const codeKind = fc.constantFrom(...CODE_KINDS)

/** By how much one of two at once is ahead; each of them may be. */
const lead = fc.integer({ min: -300, max: 300 })

const repeat = <T>(times: number, arbitrary: fc.Arbitrary<T>) =>
  Array.from({ length: times }, () => arbitrary)
