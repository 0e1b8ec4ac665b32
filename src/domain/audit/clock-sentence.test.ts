import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLOCKS } from './clock-off.ts'
import { clockSentence } from './clock-sentence.ts'

test('every clock that an event can name has a sentence with its seconds', () => {
  for (const of of CLOCKS) {
    for (const aheadSeconds of [-92, 92]) {
      assert.match(clockSentence({ of, aheadSeconds }) ?? '', /\b92 seconds\b/, of)
    }
  }
})

test('an app that is behind is not called ahead', () => {
  assert.match(clockSentence({ of: 'totp', aheadSeconds: -92 }) ?? '', /92 seconds behind/)
  assert.match(clockSentence({ of: 'totp', aheadSeconds: 92 }) ?? '', /92 seconds ahead of/)
})

test('a kind that a newer server has is told too, and anything else is left alone', () => {
  assert.match(clockSentence({ of: 'moon', aheadSeconds: 3 }) ?? '', /^moon is 3 seconds ahead/)
  for (const other of [null, 'x', {}, { of: 'totp' }, { aheadSeconds: 3 }]) {
    assert.equal(clockSentence(other), undefined)
  }
})
