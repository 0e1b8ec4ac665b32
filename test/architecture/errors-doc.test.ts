/**
 * docs/errors.md and the code say the same, in both directions: every code with its status and OAuth name, and every
 * error that travels over a redirect.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  ERRORS_PAGE,
  SDK_PAGE,
  withActionTable,
  withErrorTables,
} from '../../scripts/doc-tables.ts'
import { CATALOGUE } from '../../src/errors/catalogue.ts'
import { type ErrorEntry, oauthErrorOf } from '../../src/errors/entry.ts'
import { NEXT_ACTIONS } from '../../src/errors/next-actions.ts'
import { AUTHORIZATION_ERRORS } from '../../src/protocol/oauth.ts'

const PAGE = readFileSync(ERRORS_PAGE, 'utf8')

/** The rows of the tables below a heading, cell by cell, without code marks and anchors. */
function table(heading: string): readonly (readonly string[])[] {
  const section = PAGE.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0]
  assert.ok(section !== undefined, `docs/errors.md has no section ${heading}`)
  const groups = section.split('\n### ')
  return groups.flatMap((group) => {
    const rows = group.split('\n').filter((line) => line.startsWith('|'))
    return rows.slice(2).map((line) => {
      const cells = line.split('|').slice(1, -1)
      return cells.map((cell) => cell.trim().replace(/^(?:<a id="\w+"><\/a>)?`([^`]*)`$/, '$1'))
    })
  })
}

test('docs/errors.md lists every code with its status and OAuth name, and no other', () => {
  const documented = table('Codes').map(([code, status, oauth]) => ({ code, status, oauth }))
  const known = Object.entries(CATALOGUE).map(([code, entry]) => ({
    code,
    status: String(entry.status),
    oauth: oauthErrorOf(entry),
  }))
  assert.deepEqual(documented, known)
})

test('an error that is not about the request itself writes out its OAuth name', () => {
  const usual = Object.values<ErrorEntry>(CATALOGUE).filter(({ oauth }) => oauth === undefined)
  assert.ok(usual.length > 10)
  for (const { status, message } of usual) {
    assert.ok(status < 500 && ![401, 403, 429].includes(status), message)
  }
})

test('docs/errors.md is what `npm run docs` writes', () => {
  assert.equal(PAGE, withErrorTables(PAGE), 'run `npm run docs`')
})

test('docs/sdk-authors.md is what `npm run docs` writes', () => {
  const page = readFileSync(SDK_PAGE, 'utf8')
  assert.equal(page, withActionTable(page), 'run `npm run docs`')
})

test('every code names its next actions, from the closed list and each once, and every action is used', () => {
  const used = new Set<string>()
  for (const [code, { next }] of Object.entries(CATALOGUE)) {
    assert.ok(next.length > 0, code)
    assert.equal(new Set(next).size, next.length, code)
    for (const action of next) {
      assert.ok(Object.hasOwn(NEXT_ACTIONS, action), `${code}: ${action}`)
      used.add(action)
    }
    // "Nothing to do" beside something to do would be no answer.
    if ((next as readonly string[]).includes('none')) assert.deepEqual(next, ['none'], code)
  }
  assert.deepEqual([...used].toSorted(), Object.keys(NEXT_ACTIONS).toSorted())
})

test('a code whose status asks for patience says wait, and only those do', () => {
  for (const [code, { status, next }] of Object.entries(CATALOGUE)) {
    // RFC 8628 §3.5 prescribes 400.
    const isPatient = [429, 503].includes(status) || isPollOfDevice(code)
    assert.equal((next as readonly string[]).includes('wait'), isPatient, code)
  }
})

function isPollOfDevice(code: string): boolean {
  return ['AUTHORIZATION_PENDING', 'SLOW_DOWN'].includes(code)
}

test('docs/errors.md has an anchor for every code, and one code for each anchor', () => {
  const anchors = PAGE.matchAll(/<a id="(\w+)"><\/a>`(\w+)`/g)
  assert.deepEqual(
    Array.from(anchors, ([, anchor, code]) => ({ anchor, code })),
    Object.keys(CATALOGUE).map((code) => ({ anchor: code, code })),
  )
})

test('docs/errors.md says of every code when it happens and what to do', () => {
  for (const [code, , , , when, advice, ...more] of table('Codes')) {
    assert.match(when ?? '', /^[A-Z`].+\.$/, `${code}`)
    assert.match(advice ?? '', /^[A-Z`].+\.$/, `${code}`)
    assert.deepEqual(more, [], `${code} has six cells`)
  }
})

test('docs/errors.md lists every error that goes back to the application, and no other', () => {
  const documented = table('Errors that go back to the application').map(([error]) => error)
  assert.deepEqual(documented, Object.keys(AUTHORIZATION_ERRORS))
})
