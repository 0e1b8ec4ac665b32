/** docs/decisions.md has an index of all its decisions. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { PAGE, withIndex } from '../../scripts/decision-index.ts'

const page = readFileSync(PAGE, 'utf8')

test('the index of docs/decisions.md is up to date', () => {
  assert.equal(page, withIndex(page), 'run `npm run docs`')
})

test('lists a decision by number, with a link and its subject', () => {
  const small =
    '# Decisions\n\n## Index\n\n## Tokens\n\n### D-12 `typ` is fixed\n\n## Pages\n\n### D-3 Focus\n'
  assert.equal(
    withIndex(small),
    [
      '# Decisions\n\n## Index\n',
      '| Number | Decision | Subject |',
      '|---|---|---|',
      '| [D-3](#d-3-focus) | Focus | Pages |',
      '| [D-12](#d-12-typ-is-fixed) | `typ` is fixed | Tokens |',
      '\n## Tokens\n\n### D-12 `typ` is fixed\n\n## Pages\n\n### D-3 Focus\n',
    ].join('\n'),
  )
  assert.equal(withIndex(withIndex(small)), withIndex(small))
})
