import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExternalIdClaim } from './ca.ts'
import { type CertificateNames, externalId } from './external-id.ts'

const names: CertificateNames = {
  commonNames: ['dept/unit/alice', 'second'],
  uris: ['https://example.org/a', 'SPIFFE://domain/x', 'spiffe://domain/y', 'urn:id:4711'],
  emails: ['alice@good.example', 'alice@bad.example', ''],
}

const ALL: ExternalIdClaim = {
  location: 'COMMON_NAME',
  matcher: 'ALL',
  matcherCriteria: '',
  parser: 'NONE',
  parserCriteria: '',
  index: 0,
}

const cases: readonly [
  title: string,
  claim: Partial<ExternalIdClaim>,
  expected: string | undefined,
][] = [
  ['the first common name', {}, 'dept/unit/alice'],
  ['the second common name', { index: 1 }, 'second'],
  ['no third common name', { index: 2 }, undefined],
  ['nothing at an index below the first', { index: -1 }, undefined],
  ['nothing between two indexes', { index: 0.5 }, undefined],
  ['the second URI', { location: 'SAN_URI', index: 1 }, 'SPIFFE://domain/x'],
  ['the first address', { location: 'SAN_EMAIL' }, 'alice@good.example'],
  ['no empty value', { location: 'SAN_EMAIL', index: 2 }, undefined],
  [
    'what follows a prefix',
    { location: 'SAN_URI', matcher: 'PREFIX', matcherCriteria: 'urn:id:' },
    '4711',
  ],
  [
    'no value with another prefix',
    { location: 'SAN_URI', matcher: 'PREFIX', matcherCriteria: 'URN:' },
    undefined,
  ],
  [
    'nothing where the prefix is all there is',
    { location: 'SAN_URI', matcher: 'PREFIX', matcherCriteria: 'urn:id:4711' },
    undefined,
  ],
  [
    'what precedes a suffix',
    { location: 'SAN_EMAIL', matcher: 'SUFFIX', matcherCriteria: '@bad.example' },
    'alice',
  ],
  [
    'an index among the values that match',
    { location: 'SAN_EMAIL', matcher: 'SUFFIX', matcherCriteria: '.example', index: 1 },
    'alice@bad',
  ],
  [
    'no value with another suffix',
    { location: 'SAN_EMAIL', matcher: 'SUFFIX', matcherCriteria: '@example' },
    undefined,
  ],
  [
    'whole URIs of a scheme, whatever its case',
    { location: 'SAN_URI', matcher: 'SCHEME', matcherCriteria: 'spiffe', index: 1 },
    'spiffe://domain/y',
  ],
  [
    'no URI of a scheme that only begins so',
    { location: 'SAN_URI', matcher: 'SCHEME', matcherCriteria: 'spiff' },
    undefined,
  ],
  ['a part of a value', { parser: 'SPLIT', parserCriteria: '/', index: 2 }, 'alice'],
  ['no part behind the last', { parser: 'SPLIT', parserCriteria: '/', index: 3 }, undefined],
  ['the whole value as its only part', { parser: 'SPLIT', parserCriteria: '#' }, 'dept/unit/alice'],
  ['no letters', { parser: 'SPLIT', parserCriteria: '' }, undefined],
  [
    'a part of the first value that matches',
    {
      location: 'SAN_URI',
      matcher: 'SCHEME',
      matcherCriteria: 'SPIFFE',
      parser: 'SPLIT',
      parserCriteria: '/',
      index: 3,
    },
    'x',
  ],
  [
    'no part of what does not match',
    { matcher: 'PREFIX', matcherCriteria: 'x', parser: 'SPLIT', parserCriteria: '/' },
    undefined,
  ],
]

for (const [title, claim, expected] of cases) {
  test(`a claim finds ${title}`, () => {
    assert.equal(externalId({ ...ALL, ...claim }, names), expected)
  })
}

test('a certificate without names has no external id', () => {
  const none = { commonNames: [], uris: [], emails: [] }
  for (const location of ['COMMON_NAME', 'SAN_URI', 'SAN_EMAIL'] as const) {
    assert.equal(externalId({ ...ALL, location }, none), undefined)
  }
})
