import assert from 'node:assert/strict'
import { test } from 'node:test'
import { certificatePage } from '../pages/certificate-page.ts'
import { continuePage } from '../pages/continue-page.ts'
import { enrollPage } from '../pages/enroll-page.ts'
import { passkeyPage } from '../pages/passkey-page.ts'
import { passwordPage } from '../pages/password-page.ts'
import { totpPage } from '../pages/totp-page.ts'
import { presentationIn } from '../presentation.ts'
import { HELPERS } from './helpers-script.ts'

const EN = presentationIn('en')
const authRequestId = 'request-1'

test('D-427: every form that can finish a login comes with the script that sends it once', () => {
  for (const page of [
    passwordPage(EN, { authRequestId }),
    totpPage(EN, { authRequestId }),
    certificatePage(EN, { authRequestId, hasCertificate: true }),
    continuePage(EN, authRequestId),
    enrollPage(EN, { authRequestId, provisioningUrl: 'otpauth://totp/a:b?secret=AAAA' }),
    passkeyPage(EN, { authRequestId, options: {}, canUseApp: false }),
  ]) {
    assert.ok(page.toString().includes(HELPERS.toString()), page.toString())
  }
})
