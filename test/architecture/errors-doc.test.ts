/**
 * docs/errors.md and the code say the same, in both directions: every code with its status and OAuth name, and every
 * error that travels over a redirect.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { CATALOGUE } from '../../src/errors/catalogue.ts'
import { AUTHORIZATION_ERRORS } from '../../src/protocol/oauth.ts'

const PAGE = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')

/** The rows of the table below a heading, cell by cell; code marks are taken off. */
function table(heading: string): readonly (readonly string[])[] {
  const section = PAGE.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0]
  assert.ok(section !== undefined, `docs/errors.md has no section ${heading}`)
  const rows = section.split('\n').filter((line) => line.startsWith('|'))
  return rows.slice(2).map((line) => {
    const cells = line.split('|').slice(1, -1)
    return cells.map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1'))
  })
}

test('docs/errors.md lists every code with its status and OAuth name, and no other', () => {
  const documented = table('Codes').map(([code, status, oauth]) => ({ code, status, oauth }))
  const known = Object.entries(CATALOGUE).map(([code, { status, oauth }]) => ({
    code,
    status: String(status),
    oauth,
  }))
  assert.deepEqual(documented, known)
})

test('docs/errors.md says of every code when it happens and what to do', () => {
  for (const [code, , , when, advice, ...more] of table('Codes')) {
    assert.match(when ?? '', /^[A-Z`].+\.$/, `${code}`)
    assert.match(advice ?? '', /^[A-Z`].+\.$/, `${code}`)
    assert.deepEqual(more, [], `${code} has five cells`)
  }
})

test('docs/errors.md lists every error that goes back to the application, and no other', () => {
  const documented = table('Errors that go back to the application').map(([error]) => error)
  assert.deepEqual(documented, [...AUTHORIZATION_ERRORS])
})
