/** Which variables are read, and what counts as unset. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { readEnvironment } from './environment.ts'

test('our variables are read, and the password cannot be printed', () => {
  const environment = readEnvironment({
    LATCHKEY_HOME: '/srv/latchkey',
    LATCHKEY_ADDRESS: 'id.example.com:443',
    LATCHKEY_ADMIN_PASSWORD: 'correct horse',
  })
  assert.equal(environment.home, '/srv/latchkey')
  assert.equal(environment.address, 'id.example.com:443')
  assert.equal(environment.adminPassword?.reveal(), 'correct horse')
  assert.equal(inspect(environment).includes('correct horse'), false)
})

test('variables of ours that are unset or empty are undefined', () => {
  for (const variables of [
    {},
    { LATCHKEY_HOME: '', LATCHKEY_ADDRESS: '', LATCHKEY_ADMIN_PASSWORD: '' },
  ]) {
    const { home, address, adminPassword } = readEnvironment(variables)
    assert.deepEqual([home, address, adminPassword], [undefined, undefined, undefined])
  }
})

test('other variables are looked up by name, empty ones included', () => {
  const { variable } = readEnvironment({ SET: 'value', EMPTY: '' })
  assert.equal(variable('SET'), 'value')
  assert.equal(variable('EMPTY'), '')
  assert.equal(variable('UNSET'), undefined)
})

test('what every object inherits is not a variable', () => {
  const { variable } = readEnvironment({})
  assert.equal(variable('toString'), undefined)
  assert.equal(variable('__proto__'), undefined)
})

test('without an argument the environment of the process is read', () => {
  const { variable } = readEnvironment()
  assert.notEqual(variable('PATH'), undefined)
})
