import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFresh, readSavedSession } from './saved-session.ts'

const SAVED = {
  version: 1,
  url: 'https://server.example',
  api: 'https://server.example',
  clientId: 'service',
  accessToken: 'access',
  expiresAt: 1,
  lifetimeMilliseconds: 1,
  refreshToken: 'lkr_secret',
  idToken: 'id',
  claims: { sub: 'alice', sid: 'session-1' },
}

test('a saved session comes back as it was, through JSON too', () => {
  assert.deepEqual(readSavedSession(JSON.parse(JSON.stringify(SAVED))), SAVED)
  const { refreshToken: _, ...without } = SAVED
  assert.deepEqual(readSavedSession(without), without)
})

test('a token is fresh while it has half a minute left, or a third of a short lifetime', () => {
  for (const [lifetimeMilliseconds, least] of [
    [1_800_000, 30_000],
    [90_000, 30_000],
    [60_000, 20_000],
  ] as const) {
    const token = { expiresAt: 1_000_000, lifetimeMilliseconds }
    assert.equal(isFresh(token, 1_000_000 - least), false)
    assert.equal(isFresh(token, 1_000_000 - least - 1), true)
  }
})

test('a token is fresh until the server wants it refreshed, and never past its own end', () => {
  const token = { expiresAt: 1_000_000, lifetimeMilliseconds: 900_000, refreshAt: 500_000 }
  assert.equal(isFresh(token, 499_999), true)
  assert.equal(isFresh(token, 500_000), false)
  assert.equal(isFresh({ ...token, refreshAt: 2_000_000 }, 970_000), false)
})

const BROKEN: readonly object[] = [
  { version: 2 },
  { url: '' },
  { accessToken: undefined },
  { refreshAt: 'soon' },
  { idToken: 7 },
  { expiresAt: 'soon' },
  { lifetimeMilliseconds: Number.NaN },
  { refreshToken: ['lkr_secret'] },
  { ca: 7 },
  { claims: null },
  { claims: { sub: 'alice' } },
]
for (const change of BROKEN) {
  test(`what is broken is refused without being repeated: ${Object.keys(change)}`, () => {
    assert.throws(
      () => readSavedSession({ ...SAVED, ...change }),
      (error: Error) => error instanceof TypeError && !error.message.includes('secret'),
    )
  })
}

test('what is not an object is not a saved session', () => {
  for (const value of [undefined, null, 'text', 7, [], {}]) {
    assert.throws(() => readSavedSession(value), TypeError)
  }
})
