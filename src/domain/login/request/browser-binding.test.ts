/** A browser finishes what it began: D-10. The rule alone; the real browser is in test/browser. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemRandom } from '../../../base/secrets/random.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../../base/secrets/vault.ts'
import type { AuthRequestKey } from './auth-request.ts'
import { bindBrowser, refuseStep, type StepOrigin } from './browser-binding.ts'

const vault = createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom)
const KEY = 'a-key' as AuthRequestKey

const step = (given: Partial<StepOrigin>): StepOrigin => ({
  isBrowser: false,
  isForeignPost: false,
  cookie: () => undefined,
  ...given,
})

const begunByProgram = { key: KEY, browser: undefined }

function begunInBrowser() {
  const { cookie, hash } = bindBrowser(vault, systemRandom)
  return { request: { key: KEY, browser: hash }, cookie }
}

test('D-10: a program goes on with what a program began', () => {
  assert.equal(refuseStep(vault, begunByProgram, step({})), undefined)
})

test('D-10: the browser that began goes on with its cookie', () => {
  const { request, cookie } = begunInBrowser()
  const own = step({ isBrowser: true, cookie: () => cookie })
  assert.equal(refuseStep(vault, request, own), undefined)
})

test('D-10: a browser may not take over a login that a program began, whatever cookie it has', () => {
  // Attack: an attacker begins a login with their own challenge and sends a person the genuine link.
  const { cookie } = begunInBrowser()
  for (const origin of [
    step({ isBrowser: true }),
    step({ isBrowser: true, cookie: () => cookie }),
  ]) {
    assert.match(refuseStep(vault, begunByProgram, origin) ?? '', /a program began/)
  }
})

test('D-10: another browser, or a program, may not take over a login that a browser began', () => {
  const { request } = begunInBrowser()
  for (const isBrowser of [true, false]) {
    assert.match(refuseStep(vault, request, step({ isBrowser })) ?? '', /cookie .* is missing/)
  }
})

test('D-10: the cookie of another login does not serve', () => {
  const { request } = begunInBrowser()
  const { cookie } = begunInBrowser()
  for (const wrong of [cookie, '', request.browser]) {
    const origin = step({ isBrowser: true, cookie: () => wrong })
    assert.match(refuseStep(vault, request, origin) ?? '', /of another login/)
  }
})

test('D-10: the cookie is looked for under the key of its own request', () => {
  const { request, cookie } = begunInBrowser()
  const asked: string[] = []
  const origin = step({
    isBrowser: true,
    cookie: (key) => {
      asked.push(key)
      return key === KEY ? cookie : undefined
    },
  })
  assert.equal(refuseStep(vault, request, origin), undefined)
  assert.deepEqual(asked, [KEY])
})

test('D-10: a login that is posted from another site is refused even with the right cookie', () => {
  // Attack: a foreign page posts a form to a login endpoint.
  const { request, cookie } = begunInBrowser()
  const foreign = step({ isBrowser: true, isForeignPost: true, cookie: () => cookie })
  assert.match(refuseStep(vault, request, foreign) ?? '', /from another site/)
  assert.match(refuseStep(vault, begunByProgram, foreign) ?? '', /from another site/)
})

test('the cookie has 128 random bits, and the request remembers only a hash of it', () => {
  const { cookie, hash } = bindBrowser(vault, systemRandom)
  assert.equal(Buffer.from(cookie, 'base64url').length, 16)
  assert.equal(hash.includes(cookie), false)
  assert.notEqual(bindBrowser(vault, systemRandom).cookie, cookie)
})
