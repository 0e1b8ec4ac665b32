/**
 * Citations lead somewhere: docs/architecture.md, section 10. First the checker itself, on small pages, because
 * a guard that cannot fail guards nothing; then every citation in src and test.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { checkCheckout, findBrokenCitations, type Pages } from '../../scripts/check-citations.ts'

const PAGES: Pages = {
  decisions: '### D-1 Brand\n\ntext about D-3\n\n### D-2 Issuer\n',
  requirements: '- **R001** Without a challenge …\n',
  edgeApi: '## 1. Envelope\n\n### 4.2 Authenticator\n',
  specification: [
    '## States and transitions',
    '### Auth request',
    '### Access token (JWT)',
    '## Authentication',
    '1. one',
    '2. two',
    '### Authentication Query (element)',
    '### 401 challenges',
    '## Limits',
  ].join('\n'),
}

describe('the citation checker', () => {
  const sound = [
    'D-1, D-2 and R001',
    'API 1, API 4.2',
    'SPEC Limits: six characters',
    'SPEC Limits',
    'the SPEC says nothing, and neither does the SPEC.',
    'SPEC Authentication 2; D-1',
    'SPEC Authentication Query has a provider',
    'SPEC Access token',
    'SPEC 401 challenges',
    'SPEC States and transitions / Auth request; the names are its own',
    '/**\n * See SPEC\n * States and\n * transitions.\n */\nexport const x = 1',
    '// SPEC Limits\nOther.call()',
  ]
  for (const text of sound) {
    test(`accepts ${JSON.stringify(text)}`, () => {
      assert.deepEqual(findBrokenCitations([{ name: 'a.ts', text }], PAGES), [])
    })
  }

  const broken = [
    ['D-3', 'docs/decisions.md'],
    ['R002', 'docs/security-requirements.md'],
    ['API 4.3', 'docs/edge-api.md'],
    ['API 4.2.1', 'docs/edge-api.md'],
    ['SPEC Login', 'docs/specification.md'],
    ['SPEC Limitations', 'docs/specification.md'],
    ['SPEC Authentication 3', 'docs/specification.md'],
    ['SPEC Authentication 0', 'docs/specification.md'],
    ['SPEC Limits 1', 'docs/specification.md'],
    ['SPEC Authentication Policy', 'docs/specification.md'],
    ['SPEC Limits / Login', 'docs/specification.md'],
  ] as const
  for (const [citation, page] of broken) {
    test(`refuses ${citation}, also across two lines of a comment`, () => {
      const problem = `a.ts cites ${citation}, which is not in ${page}`
      for (const text of [citation, `/*\n * ${citation.replaceAll(' ', '\n * ')}\n */`]) {
        assert.deepEqual(findBrokenCitations([{ name: 'a.ts', text }], PAGES), [problem])
      }
    })
  }

  test('refuses a decision made while building that nothing cites', () => {
    const pages = { ...PAGES, decisions: '### D-99 Waits\n### D-100 Cited\n### D-101 Forgotten\n' }
    const sources = [{ name: 'a.ts', text: '// D-100' }]
    assert.deepEqual(findBrokenCitations(sources, pages), ['D-101 is cited nowhere'])
  })

  test('refuses a number that decides two things', () => {
    const pages = { ...PAGES, decisions: '### D-1 Brand\n### D-1 Issuer\n' }
    assert.deepEqual(findBrokenCitations([], pages), ['D-1 is decided twice'])
  })
})

test('every citation in src and test leads to its page, and every decision of ours is cited', () => {
  assert.deepEqual(checkCheckout(join(import.meta.dirname, '../..')), [])
})
