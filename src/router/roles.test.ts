/** The roles of callers, and those that were removed since: D-400. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRoleSubject, roleSubject } from '../protocol/feed/role-removals.ts'
import { createRoleRemovals, readRoles } from './roles.ts'

function removed(...subjects: readonly string[]) {
  const removals = createRoleRemovals()
  for (const subject of subjects) {
    const removal = readRoleSubject(subject)
    assert.ok(removal)
    removals.add(removal)
  }
  return removals
}

test('a removed role does not count for tokens from before, and all others do', () => {
  const removals = removed(roleSubject('alice', 1, 'ops'))
  const names = ['ops', 'dev']
  assert.deepEqual(removals.rolesOf('alice', { names, version: 0 }), ['dev'])
  assert.deepEqual(removals.rolesOf('bob', { names, version: 0 }), ['ops', 'dev'])
})

test('a role that was given back counts for tokens from after that, and not for older ones', () => {
  const removals = removed(roleSubject('alice', 1, 'ops'))
  assert.deepEqual(removals.rolesOf('alice', { names: ['ops'], version: 1 }), ['ops'])
  assert.deepEqual(removals.rolesOf('alice', { names: ['ops'], version: 0 }), [])
})

test('removals count in any order, and more than once', () => {
  const first = roleSubject('alice', 1, 'ops')
  const second = roleSubject('alice', 5, 'ops')
  for (const removals of [removed(second, first, second), removed(first, second, first)]) {
    for (const [version, expected] of [
      [0, []],
      [1, []],
      [4, []],
      [5, ['ops']],
    ] as const) {
      assert.deepEqual(removals.rolesOf('alice', { names: ['ops'], version }), expected)
    }
  }
})

test('a removal is forgotten by itself, and a later one of the same role is kept', () => {
  const removals = removed(roleSubject('alice', 1, 'ops'), roleSubject('alice', 2, 'ops'))
  removals.forget(roleSubject('alice', 1, 'ops'))
  assert.deepEqual(removals.rolesOf('alice', { names: ['ops'], version: 1 }), [])
  removals.forget(roleSubject('alice', 2, 'ops'))
  assert.deepEqual(removals.rolesOf('alice', { names: ['ops'], version: 1 }), ['ops'])
  removals.forget('cert:abc')
})

test('the name of a removal has a bounded length, whatever the role', () => {
  const role = `a:1:${'ß'.repeat(300)}`
  const subject = roleSubject('k3j9', 12, role)
  assert.ok(subject.length < 80)
  assert.equal(readRoleSubject(subject)?.identityId, 'k3j9')
  assert.equal(readRoleSubject(subject)?.version, 12)
  for (const other of ['session-1', 'cert:ab', 'role:', 'role:alice:1:ops', 'role:alice:x:y']) {
    assert.equal(readRoleSubject(other), undefined)
  }
})

test('roles are unknown unless they and their version are there', () => {
  assert.equal(readRoles(undefined, 1), undefined)
  assert.equal(readRoles(['a'], undefined), undefined)
  assert.equal(readRoles('a', 1), undefined)
  assert.equal(readRoles(['a', 1], 1), undefined)
  assert.equal(readRoles(['a'], 1.5), undefined)
  assert.deepEqual(readRoles([], 0), { names: [], version: 0 })
})
