/**
 * Properties of the `WWW-Authenticate` field: what is written is what is read, by our parser and by that of
 * an independent client library, and nothing can break out of the field (R066).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import * as oauth from 'oauth4webapi'
import { type Challenge, formatChallenges, parseChallenges } from '../../src/protocol/challenge.ts'
import { rounds } from '../support/chance/rounds.ts'

// Short in CI, long on demand.
fc.configureGlobal({ numRuns: rounds(1000) })

const printable = fc.string({ unit: 'grapheme-ascii', maxLength: 40 })
// Quotes, backslashes, commas and what looks like a further challenge, often.
const awkward = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '"',
        '\\',
        ',',
        ', ',
        '=',
        ' ',
        '\\"',
        '", Bearer realm="',
        'error="x"',
        '%0A',
      ),
      printable,
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''))
const anything = fc.string({ unit: 'binary', maxLength: 40 })

function challengesOf(text: fc.Arbitrary<string>): fc.Arbitrary<Challenge[]> {
  const challenge: fc.Arbitrary<Challenge> = fc.record(
    {
      scheme: fc.constantFrom('zt-session', 'Bearer'),
      realm: text,
      error: fc.constantFrom('missing', 'invalid', 'expired'),
      errorDescription: text,
      id: text,
      issuer: text,
    },
    { requiredKeys: ['scheme', 'realm', 'error', 'errorDescription'] },
  )
  return fc.array(challenge, { minLength: 1, maxLength: 5 })
}

function attributesOf(challenge: Challenge): [string, string][] {
  const { realm, error, errorDescription, id, issuer } = challenge
  return [
    ['realm', realm],
    ['error', error],
    ['error_description', errorDescription],
    ...(id === undefined ? [] : [['id', id] satisfies [string, string]]),
    ...(issuer === undefined ? [] : [['issuer', issuer] satisfies [string, string]]),
  ]
}

async function readByClientLibrary(field: string): Promise<unknown> {
  const answer = new Response(null, { status: 401, headers: { 'www-authenticate': field } })
  const call = oauth.protectedResourceRequest(
    'token',
    'GET',
    new URL('https://service.example/'),
    undefined,
    undefined,
    { [oauth.customFetch]: async () => answer },
  )
  return call.catch((error: unknown) => {
    assert.ok(error instanceof oauth.WWWAuthenticateChallengeError)
    return error.cause
  })
}

test('what was formatted is parsed back, attribute for attribute and in order', () => {
  fc.assert(
    fc.property(challengesOf(fc.oneof(awkward, printable)), (challenges) => {
      const read = parseChallenges(formatChallenges(challenges))
      assert.deepEqual(
        read?.map(({ scheme, token68, parameters }) => ({
          scheme,
          token68,
          parameters: [...parameters],
        })),
        challenges.map((challenge) => ({
          scheme: challenge.scheme,
          token68: undefined,
          parameters: attributesOf(challenge),
        })),
      )
    }),
  )
})

test('an independent client library reads the same challenges', async () => {
  await fc.assert(
    fc.asyncProperty(challengesOf(fc.oneof(awkward, printable)), async (challenges) => {
      assert.deepEqual(
        await readByClientLibrary(formatChallenges(challenges)),
        challenges.map((challenge) => ({
          scheme: challenge.scheme.toLowerCase(),
          parameters: Object.fromEntries(attributesOf(challenge)),
        })),
      )
    }),
  )
})

test('the field is printable ASCII and keeps its challenges apart, whatever they hold', () => {
  fc.assert(
    fc.property(challengesOf(fc.oneof(anything, awkward)), (challenges) => {
      const field = formatChallenges(challenges)
      assert.match(field, /^[ -~]*$/)
      assert.deepEqual(
        parseChallenges(field)?.map(({ scheme, parameters }) => [scheme, parameters.get('error')]),
        challenges.map(({ scheme, error }) => [scheme, error]),
      )
    }),
  )
})

test('parsing never throws, and no value that it reads has a line break or control character', () => {
  const fieldLike = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          'Bearer',
          'zt-session',
          ' ',
          ',',
          '=',
          '"',
          '\\',
          'a="b"',
          'a=b',
          'abc==',
          '\t',
          '\n',
        ),
        anything,
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join(''))
  const quoted = anything.map((value) => `Bearer realm="${value}"`)
  fc.assert(
    fc.property(fc.oneof(fieldLike, quoted, anything), (text) => {
      for (const { token68, parameters } of parseChallenges(text) ?? []) {
        assert.ok(token68 === undefined || parameters.size === 0)
        for (const value of parameters.values()) assert.match(value, /^[\t\P{Cc}]*$/u)
      }
    }),
  )
})
