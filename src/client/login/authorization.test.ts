import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { systemRandom } from '../../base/secrets/random.ts'
import { LoginRefused, UnexpectedAnswer } from '../errors.ts'
import { authorizationUrl, newProof, readClientAnswer } from './authorization.ts'

const REDIRECT_URI = 'http://127.0.0.1/callback'
const PROVIDER = { issuer: 'https://server.example/oidc', namesIssuer: true }
const AUTHORIZATION = new URL('https://server.example/oidc/authorization')

test('two logins have nothing in common', () => {
  const [one, two] = [newProof(systemRandom, REDIRECT_URI), newProof(systemRandom, REDIRECT_URI)]
  const drawn = [one, two].flatMap(({ state, nonce, verifier }) => [state, nonce, verifier])
  assert.equal(new Set(drawn).size, 6)
  // RFC 7636 §4.1: 43 characters at the least; 256 bits each.
  for (const text of drawn) assert.match(text, /^[\w-]{43}$/)
})

test('the request carries the hash of the verifier, and never the verifier', () => {
  const proof = newProof(systemRandom, REDIRECT_URI)
  const url = authorizationUrl({ authorization: AUTHORIZATION }, 'service', proof, {
    method: 'cert',
    configTypes: ['a', 'b'],
  })
  assert.equal(url.href.includes(proof.verifier), false)
  assert.deepEqual(
    [...url.searchParams],
    [
      ['response_type', 'code'],
      ['client_id', 'service'],
      ['redirect_uri', REDIRECT_URI],
      ['scope', 'openid offline_access'],
      ['state', proof.state],
      ['nonce', proof.nonce],
      ['code_challenge', createHash('sha256').update(proof.verifier).digest('base64url')],
      ['code_challenge_method', 'S256'],
      ['method', 'cert'],
      ['configTypes', 'a'],
      ['configTypes', 'b'],
    ],
  )
})

const ISS = encodeURIComponent(PROVIDER.issuer)
const read = (query: string, provider = PROVIDER) =>
  readClientAnswer(query, { state: 'a-state' }, provider)

test('the code of an answer with the right state and issuer is read', () => {
  const answer = read(`code=abc&state=a-state&iss=${ISS}`)
  assert.deepEqual(answer, { outcome: 'code', code: 'abc' })
})

test('RFC 9207 §2.4: a server that does not name its issuer need not, and must not name another', () => {
  const silent = { ...PROVIDER, namesIssuer: false }
  assert.equal(read('code=abc&state=a-state', silent).outcome, 'code')
  assert.equal(read('code=abc&state=a-state&iss=https%3A%2F%2Fevil', silent).outcome, 'failed')
})

for (const query of [
  '',
  'code=abc',
  `code=abc&state=another&iss=${ISS}`,
  `code=abc&state=a-state&state=another&iss=${ISS}`,
  'state=%zz',
  'state=a-state%00',
]) {
  test(`a response without the right state is ignored: ${query}`, () => {
    assert.deepEqual(read(query), { outcome: 'not-ours' })
  })
}

for (const query of [
  'code=abc&state=a-state',
  'code=abc&state=a-state&iss=https%3A%2F%2Fevil',
  `state=a-state&iss=${ISS}`,
  `code=&state=a-state&iss=${ISS}`,
  `code=abc&code=def&state=a-state&iss=${ISS}`,
  `code=abc&error=x&error=y&state=a-state&iss=${ISS}`,
]) {
  test(`an answer that is not whole fails the login: ${query}`, () => {
    const answer = read(query)
    assert.ok(answer.outcome === 'failed' && answer.error instanceof UnexpectedAnswer)
  })
}

test('an error is reported by its name, if it has the form of one', () => {
  const named = read(`error=access_denied&state=a-state&iss=${ISS}`)
  assert.ok(named.outcome === 'failed' && named.error instanceof LoginRefused)
  assert.equal(named.error.code, 'access_denied')
  const odd = read(`error=%1b%5B31mred&state=a-state&iss=${ISS}`)
  assert.ok(odd.outcome === 'failed' && odd.error.code === 'unknown_error')
})
