/**
 * What logins must be like, as simply as it can be said: SPEC States and transitions; D-7, D-12 … D-20. Each step says
 * the word that it must be answered with, and remembers what follows from it. Nothing of the product is used here; the
 * codes of the apps come from an independent library.
 *
 * The four promises of the whole are asserted apart from the predictions, in `completed`, `use` and `redeemed`.
 */
import assert from 'node:assert/strict'
import { TOTP, URI } from 'otpauth'
import type { ManualClock } from '../../support/clocks/manual-clock.ts'
import { AT_FIRST, type Demanded, type Name } from './surroundings.ts'
import type { Outcome } from './world.ts'

const SECOND = 1_000
const REQUEST_LIFE = 600 * SECOND
const CODE_LIFE = 60 * SECOND
const STEP = 30 * SECOND
const MOST_WRONG_CODES = 10

export interface Person {
  readonly name: Name
  demanded: Demanded
  /** Undefined: enabled. */
  disabledUntil: number | undefined
  app: App | undefined
  /** Codes tried since the last right one, at the most. From ten on the next one may be turned away (D-18). */
  guesses: number
  /** D-226: how often everything of this person was ended. */
  voids: number
}

interface App {
  readonly totp: TOTP
  /** D-240: while it is pending, it exists for the login that started it alone. */
  readonly startedBy: Login
  isVerified: boolean
  /** D-17: this time step and those before it are spent. */
  lastStep: number
  lastCode: string
  readonly unspent: string[]
  readonly spent: string[]
}

export interface IssuedCode {
  readonly text: string
  readonly at: number
  state: 'live' | 'dead' | 'spent'
}

export interface Login {
  readonly id: string
  readonly verifier: string
  readonly begunAt: number
  state: 'open' | 'coded' | 'exchanged' | 'ended'
  /** Whose password was right last (D-13). */
  owner: Person | undefined
  /** `voids` of the owner when the password was right: with another number by now nothing counts (D-226). */
  voids: number
  /** Proven by the owner, on this login. */
  totp: boolean
  jwt: boolean
  wrongCodes: number
  /** D-20: the code was issued for an enrollment, and another may follow. */
  byEnrollment: boolean
  readonly codes: IssuedCode[]
}

export type Word = Outcome['word']

export class Model {
  readonly people: Readonly<Record<Name, Person>>
  readonly logins: Login[] = []
  readonly #clock: ManualClock
  /** Every factor that was ever used: who, and which time step or recovery code of which app. */
  readonly #used = new Set<string>()
  readonly #redeemed = new Set<Login>()

  constructor(clock: ManualClock) {
    this.#clock = clock
    const person = (name: Name): Person => ({
      name,
      demanded: AT_FIRST,
      disabledUntil: undefined,
      app: undefined,
      guesses: 0,
      voids: 0,
    })
    this.people = { alice: person('alice'), bob: person('bob') }
  }

  begin(started: { readonly id: string; readonly verifier: string }): Login {
    const login: Login = {
      ...started,
      begunAt: this.#clock.now(),
      state: 'open',
      owner: undefined,
      voids: 0,
      totp: false,
      jwt: false,
      wrongCodes: 0,
      byEnrollment: false,
      codes: [],
    }
    this.logins.push(login)
    return login
  }

  password(login: Login, by: Person, isRight: boolean, jwtOf: Name | undefined): Word {
    if (!this.isOpen(login)) return 'INVALID_AUTH_REQUEST'
    if (!isRight || !this.#mayLogIn(by)) return 'INVALID_AUTH'
    // D-14: nothing is proven by a call that lacks it.
    if (by.demanded.jwt && jwtOf !== by.name) return 'UNAUTHORIZED'
    // D-13: another identity starts over; D-226: so does one whose logins were voided.
    if (login.owner !== by || login.voids !== by.voids) login.totp = false
    login.owner = by
    login.voids = by.voids
    login.jwt = by.demanded.jwt
    return this.#next(login, by)
  }

  totp(login: Login, code: string): Word {
    const by = this.#factorOwner(login)
    const isSecondCode = login.state === 'coded' && login.byEnrollment
    if (by === undefined || (login.state !== 'open' && !isSecondCode)) return 'INVALID_AUTH_REQUEST'
    by.guesses += 1
    // D-20 leads nowhere when a JWT is demanded by now; only what cannot be a code at all is still called wrong.
    const isShort = isSecondCode && by.demanded.jwt && !login.jwt
    if (isShort && this.#couldBeCode(by, code)) return 'INVALID_AUTH_REQUEST'
    const factor = this.#factorOf(by, code)
    if (factor === undefined) return this.#wrong(login)
    this.#use(by, factor)
    by.guesses = 0
    login.totp = true
    login.byEnrollment = false
    return isSecondCode ? 'code' : this.#next(login, by)
  }

  startEnrollment(login: Login): Word {
    const by = this.#factorOwner(login)
    if (by === undefined || login.state !== 'open') return 'INVALID_AUTH_REQUEST'
    return by.app?.isVerified === true ? 'MFA_EXISTS' : 'enrolling'
  }

  enrolling(login: Login, url: string, recoveryCodes: readonly string[]): void {
    const { owner } = login
    const totp = URI.parse(url)
    assert.ok(totp instanceof TOTP && owner !== undefined)
    assert.equal(new Set(recoveryCodes).size, 20)
    const unspent = [...recoveryCodes]
    const fresh = { isVerified: false, lastStep: 0, lastCode: '', unspent, spent: [] }
    owner.app = { totp, startedBy: login, ...fresh }
  }

  verifyEnrollment(login: Login, code: string): Word {
    const by = this.#factorOwner(login)
    if (by === undefined || login.state !== 'open') return 'INVALID_AUTH_REQUEST'
    const { app } = by
    if (app === undefined || app.isVerified || app.startedBy !== login) {
      return 'MFA_ENROLLMENT_NOT_STARTED'
    }
    by.guesses += 1
    if (this.#stepOf(app, code) === undefined) return this.#wrong(login)
    by.guesses = 0
    app.isVerified = true
    login.totp = true
    const word = this.#next(login, by)
    login.byEnrollment = word === 'code'
    return word
  }

  cancelEnrollment(login: Login): Word {
    const by = this.#factorOwner(login)
    if (by === undefined || login.state !== 'open') return 'INVALID_AUTH_REQUEST'
    if (by.app === undefined) return 'MFA_ENROLLMENT_NOT_STARTED'
    if (by.app.isVerified) return 'MFA_EXISTS'
    if (by.app.startedBy !== login) return 'MFA_ENROLLMENT_NOT_STARTED'
    by.app = undefined
    return 'done'
  }

  /** A code arrived at the client. Promises: every factor that is demanded was proven by its owner; once. */
  completed(login: Login, text: string): void {
    const { owner, codes } = login
    assert.ok(owner !== undefined, 'a code without any proof')
    assert.ok(!this.#demandsTotp(owner) || login.totp, `a code without the TOTP of ${owner.name}`)
    assert.ok(!owner.demanded.jwt || login.jwt, `a code without the JWT of ${owner.name}`)
    assert.ok(
      codes.every(({ text: earlier }) => earlier !== text),
      'the same code twice',
    )
    // D-20: after an enrollment one more, which is the end of the first.
    assert.ok(codes.length < 2, 'a request was completed twice')
    assert.ok(!this.#redeemed.has(login), 'a request was completed after it had its tokens')
    for (const code of codes) if (code.state === 'live') code.state = 'dead'
    login.state = 'coded'
    codes.push({ text, at: this.#clock.now(), state: 'live' })
  }

  exchange(login: Login, code: IssuedCode, isRightVerifier: boolean): Word {
    if (code.state !== 'live') return 'INVALID_GRANT'
    // D-7: spent, whatever comes of it.
    code.state = 'spent'
    login.state = 'exchanged'
    const { owner } = login
    const isLate = this.#clock.now() - code.at >= CODE_LIFE
    if (isLate || !isRightVerifier || owner === undefined) return 'INVALID_GRANT'
    if (!this.#mayLogIn(owner) || login.voids !== owner.voids) return 'INVALID_GRANT'
    const { totp, jwt } = owner.demanded
    return (totp && !login.totp) || (jwt && !login.jwt) ? 'INVALID_GRANT' : 'tokens'
  }

  /** Tokens arrived. Promises: once for each request; for the one who proved it all, and what is said is true. */
  redeemed(login: Login, to: Extract<Outcome, { word: 'tokens' }>): void {
    assert.ok(!this.#redeemed.has(login), 'a request was redeemed twice')
    this.#redeemed.add(login)
    assert.equal(to.owner, login.owner?.name)
    assert.equal(to.amr.includes('pwd'), true)
    assert.equal(to.amr.includes('otp'), login.totp)
  }

  /** D-18: every wrong code counts, and the tenth ends the request, and a code that it had. */
  countWrongCode(login: Login): void {
    login.wrongCodes += 1
    if (login.wrongCodes < MOST_WRONG_CODES) return
    login.state = 'ended'
    for (const code of login.codes) if (code.state === 'live') code.state = 'dead'
  }

  /** Whether this code would be taken on this login now; nothing changes. */
  wouldTake(login: Login, code: string): boolean {
    const by = this.#factorOwner(login)
    if (by === undefined || this.#factorOf(by, code) === undefined) return false
    const isSecondCode = login.state === 'coded' && login.byEnrollment
    return isSecondCode ? !by.demanded.jwt || login.jwt : login.state === 'open'
  }

  /** Whether the code proves the pending app of this login's owner. */
  wouldVerify(login: Login, code: string): boolean {
    const app = login.state === 'open' ? this.#factorOwner(login)?.app : undefined
    if (app === undefined || app.isVerified || app.startedBy !== login) return false
    return this.#stepOf(app, code) !== undefined
  }

  isOpen(login: Login): boolean {
    return login.state === 'open' && !this.#isOver(login)
  }

  isOpenFor(login: Login, person: Person): boolean {
    return this.isOpen(login) && this.#mayLogIn(person)
  }

  isEnabled({ disabledUntil }: Person): boolean {
    return disabledUntil === undefined || disabledUntil <= this.#clock.now()
  }

  /** What the app of somebody shows, some steps from now. */
  codeOf({ app }: Person, drift = 0): string {
    return app?.totp.generate({ timestamp: this.#clock.now() + drift * STEP }) ?? '123456'
  }

  #next(login: Login, by: Person): Word {
    if (by.demanded.jwt && !login.jwt) return 'UNAUTHORIZED'
    return this.#demandsTotp(by) && !login.totp ? 'more' : 'code'
  }

  #wrong(login: Login): Word {
    this.countWrongCode(login)
    return 'MFA_INVALID_TOKEN'
  }

  /** Promise: no time step and no recovery code is ever used twice. */
  #use(by: Person, factor: Factor): void {
    const { app } = by
    assert.ok(app !== undefined)
    const key = `${by.name} ${app.totp.secret.base32} ${factor.step ?? factor.recoveryCode}`
    assert.ok(!this.#used.has(key), `used twice: ${key}`)
    this.#used.add(key)
    if (factor.step !== undefined) {
      app.lastStep = factor.step
      app.lastCode = factor.code
    } else {
      app.unspent.splice(app.unspent.indexOf(factor.recoveryCode), 1)
      app.spent.push(factor.recoveryCode)
    }
  }

  #factorOf({ app }: Person, code: string): Factor | undefined {
    if (app === undefined || !app.isVerified) return undefined
    const step = this.#stepOf(app, code)
    if (step !== undefined) return step > app.lastStep ? { step, code } : undefined
    const recoveryCode = code.toUpperCase()
    return app.unspent.includes(recoveryCode) ? { recoveryCode } : undefined
  }

  #couldBeCode({ app }: Person, code: string): boolean {
    if (app?.isVerified !== true) return false
    return this.#stepOf(app, code) !== undefined || /^[A-Z2-7]{6}$/i.test(code)
  }

  #stepOf({ totp }: App, code: string): number | undefined {
    const now = this.#clock.now()
    const drift = [1, 0, -1].find(
      (steps) => totp.generate({ timestamp: now + steps * STEP }) === code,
    )
    return drift === undefined ? undefined : Math.floor(now / STEP) + drift
  }

  /** Whose second factor the login waits for; undefined when it takes none. */
  #factorOwner(login: Login): Person | undefined {
    const { owner, state, voids } = login
    const isGone = this.#isOver(login) || state === 'ended' || state === 'exchanged'
    if (isGone || owner === undefined || !this.#mayLogIn(owner)) return undefined
    return voids === owner.voids ? owner : undefined
  }

  /** D-16. */
  #demandsTotp({ demanded, app }: Person): boolean {
    return demanded.totp || app?.isVerified === true
  }

  #mayLogIn(person: Person): boolean {
    return this.isEnabled(person) && person.demanded.password
  }

  #isOver({ begunAt }: Login): boolean {
    return this.#clock.now() - begunAt >= REQUEST_LIFE
  }
}

type Factor =
  | { readonly step: number; readonly code: string }
  | { readonly step?: never; readonly recoveryCode: string }
