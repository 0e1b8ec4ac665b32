import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inUse, invalid } from '../../domain/refusals.ts'
import { Failure } from '../../errors/catalogue.ts'
import { refusalText } from './refusal-text.ts'

test('a refusal uses the words of the form, not those of the API', () => {
  for (const [failure, text] of [
    [inUse('name'), 'This name is already taken. Choose another one.'],
    [inUse('externalId'), 'This external ID is already taken. Choose another one.'],
    [invalid('name', 'must not be empty'), 'The name must not be empty.'],
    [
      invalid('roleAttributes.3', 'must have at most 256 characters'),
      'Each role must have at most 256 characters.',
    ],
    [invalid('tags', 'has "a" twice'), 'The list of tags has "a" twice.'],
    [
      invalid('authPolicyId', 'names a policy that does not exist'),
      'This policy no longer exists. Choose another one.',
    ],
    // A name that this file does not know is better than none.
    [invalid('constructor', 'is not known here'), 'The constructor is not known here.'],
    [new Failure('LAST_ADMINISTRATOR'), 'This is the last administrator who can log in.'],
  ] as const) {
    assert.equal(refusalText(failure), text)
  }
})
