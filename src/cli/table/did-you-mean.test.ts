/** What people type instead of a command, and what they are told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COMMANDS } from './commands.ts'
import { didYouMean, suggestedCommands, suggestedOptions } from './did-you-mean.ts'
import { findCommand, meaningOf } from './find-command.ts'

test('two words mean the same command in either order, in the singular and in the plural', () => {
  const cases: readonly (readonly [typed: string, words: string, rest: readonly string[]])[] = [
    ['list identities', 'list identities', []],
    ['list identity', 'list identities', []],
    ['identity list --all', 'list identities', ['--all']],
    ['identities list', 'list identities', []],
    ['policies get strict', 'get policy', ['strict']],
    ['identity delete alice', 'delete identity', ['alice']],
    ['key list', 'keys list', []],
    ['cas verify factory', 'ca verify', ['factory']],
    ['remove mfa alice', 'mfa remove', ['alice']],
    ['--json identity list', 'list identities', ['--json']],
  ]
  for (const [typed, words, rest] of cases) {
    const found = findCommand(typed.split(' '), COMMANDS)
    assert.deepEqual({ words: found?.command.words, rest: found?.rest }, { words, rest }, typed)
  }
})

test('no two commands mean the same', () => {
  const meanings = COMMANDS.map(({ words }) => meaningOf(words.split(' ')))
  assert.deepEqual(
    meanings.filter((meaning, index) => meanings.indexOf(meaning) !== index),
    [],
  )
})

test('a mistyped command leads to the right one, and nonsense to none', () => {
  const cases: readonly (readonly [typed: string, suggested: readonly string[]])[] = [
    ['lgoin', ['login']],
    ['whoam', ['whoami']],
    ['lst identities', ['list identities']],
    ['lsit idnetities', ['list identities']],
    ['create identty alice', ['create identity']],
    ['ls identities', ['list identities']],
    ['rm identity alice', ['delete identity']],
    ['add user alice', ['create identity']],
    ['serve', ['run']],
    ['frobnicate', []],
    ['x', []],
  ]
  for (const [typed, suggested] of cases) {
    assert.deepEqual(suggestedCommands(typed.split(' '), COMMANDS), suggested, typed)
  }
})

test('a mistyped option leads to one of the same command', () => {
  const login = COMMANDS.find(({ words }) => words === 'login') ?? assert.fail()
  assert.deepEqual(suggestedOptions('usrname', login), ['--username'])
  assert.deepEqual(suggestedOptions('filter', login), [])
})

test('a suggestion is a question', () => {
  assert.equal(didYouMean([]), '')
  assert.equal(didYouMean(['a']), '. Did you mean "a"?')
  assert.equal(didYouMean(['a', 'b', 'c']), '. Did you mean "a", "b" or "c"?')
})
