import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentationIn } from '../login/presentation.ts'
import { programOf } from './program.ts'

const EN = presentationIn('en')
const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'

test('D-180: browsers are called by the name that users know, with what they run on', () => {
  const known = {
    'Chrome on Windows': `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36`,
    'Edge on Windows': `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0`,
    'Opera on macOS': `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36 OPR/122.0.0.0`,
    'Firefox on Linux': 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0',
    'Chrome on Android': `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/141.0.0.0 Mobile Safari/537.36`,
    'Samsung Internet on Android': `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile Safari/537.36`,
    'Chrome on ChromeOS': `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36`,
    'Safari on macOS':
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
    'Safari on iPhone':
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
    'Chrome on iPad':
      'Mozilla/5.0 (iPad; CPU OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/141.0.0.0 Mobile/15E148 Safari/604.1',
    Firefox: 'Firefox/144.0',
  }
  for (const [name, userAgent] of Object.entries(known))
    assert.equal(programOf(EN, userAgent), name)
})

test('a client that is not a browser is called what it calls itself, shortened if that is too long', () => {
  assert.equal(programOf(EN, 'edge-tunnel/1.4.2'), 'edge-tunnel/1.4.2')
  assert.equal(programOf(EN, 'W'.repeat(60)), 'W'.repeat(60))
  assert.equal(programOf(EN, 'W'.repeat(61)), `${'W'.repeat(59)}…`)
  assert.equal(programOf(EN, undefined), 'Unknown program')
  assert.equal(programOf(EN, ' '), 'Unknown program')
})
