import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instant } from '../../base/time/instant.ts'
import { contentSecurityPolicy } from '../login/content-security-policy.ts'
import { accountErrorText } from '../login/error-text.ts'
import { PLAIN_BRANDING } from '../login/look/branding.ts'
import { presentationIn } from '../login/presentation.ts'
import { en } from '../texts/en.ts'
import { certificatesPage } from './certificates-page.ts'
import type { Frame } from './layout.ts'
import { blockedPage, failurePage, signedOutPage } from './message-page.ts'
import { isNote } from './notes.ts'
import { overviewPage } from './overview-page.ts'
import { passwordPage } from './password-page.ts'
import { type ShownSession, sessionsPage } from './sessions-page.ts'
import { accountSheet } from './styles.ts'
import { recoveryCodesPage, totpOffPage, totpOnPage, totpSetUpPage } from './totp-page.ts'

const EVIL = '<b>"Zoë" & \'co\'</b>'
const ESCAPED = '&#60;b&#62;&#34;Zoë&#34; &#38; &#39;co&#39;&#60;/b&#62;'
const EN = presentationIn('en')
const FRAME: Frame = {
  presentation: EN,
  name: EVIL,
  formToken: (path) => `token of ${path}`,
  note: undefined,
}
const AT = instant(Date.UTC(2026, 0, 2, 3, 4, 5))

const session = (changes: Partial<ShownSession> = {}): ShownSession => ({
  id: 'session-1',
  isCurrent: false,
  userAgent: EVIL,
  address: '192.0.2.1',
  createdAt: AT,
  lastActivityAt: undefined,
  expiresAt: AT,
  ...changes,
})

const PAGES = {
  overview: overviewPage(FRAME, {
    consolePath: '/console',
    lastSignIn: { at: AT, address: '192.0.2.1', userAgent: EVIL },
    sessions: 2,
    hasPassword: true,
    recoveryCodesLeft: 3,
    passkeys: 2,
    certificate: { notAfter: AT, isExpired: true },
  }),
  sessions: sessionsPage(FRAME, { sessions: [session()], total: 2, isFresh: true }),
  password: passwordPage(FRAME, { username: EVIL, shortest: 8, error: EVIL }),
  'app off': totpOffPage(FRAME, { isFresh: true }),
  'app on': totpOnPage(FRAME, {
    recoveryCodesLeft: 1,
    isDemanded: true,
    error: { form: 'remove', message: EVIL },
  }),
  'app set up': totpSetUpPage(FRAME, { proof: EVIL, provisioningUrl: 'otpauth://totp/a?secret=B' }),
  'recovery codes': recoveryCodesPage(FRAME, { codes: ['ABCDEF'], issuer: 'id.example.org' }),
  certificates: certificatesPage(FRAME, []),
}

for (const [name, page] of Object.entries(PAGES)) {
  const text = page.toString()

  test(`the page ${name} escapes what it is given`, () => {
    assert.ok(!text.includes('<b>'))
    assert.ok(text.includes(`<p><bdi>${ESCAPED}</bdi></p>`))
  })

  test(`every form of the page ${name} posts, with the token for where it goes`, () => {
    const forms = text.split('<form ').slice(1)
    assert.ok(forms.length > 0)
    for (const form of forms) {
      const action = /^method="post" action="(\/account[^"]+)">/.exec(form)?.[1]
      assert.ok(action !== undefined, form)
      assert.ok(form.includes(`name="formToken" value="token of ${action}"`))
    }
  })

  test(`the page ${name} names one place in the menu, and has one heading`, () => {
    assert.equal(text.match(/aria-current="page"/g)?.length, 1)
    assert.equal(text.match(/<h1>/g)?.length, 1)
  })

  test(`the page ${name} has one thing in focus at most`, () => {
    assert.ok((text.match(/ autofocus/g)?.length ?? 0) <= 1)
  })

  test(`no two elements of the page ${name} have the same id`, () => {
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    assert.equal(new Set(ids).size, ids.length)
  })
}

test('the session of this browser is marked, and is ended by signing out alone', () => {
  const text = sessionsPage(FRAME, {
    sessions: [session({ isCurrent: true })],
    total: 1,
    isFresh: true,
  }).toString()
  assert.ok(text.includes('This browser'))
  assert.ok(!text.includes('action="/account/sessions'))
})

test('what has not been confirmed has the way to it, and no form', () => {
  const pages = [
    sessionsPage(FRAME, { sessions: [session()], total: 2, isFresh: false }),
    totpOffPage(FRAME, { isFresh: false }),
  ].map(String)
  for (const text of pages) {
    assert.match(text, /href="\/account\/confirm\?page=(sessions|totp)"/)
    assert.deepEqual(
      [...text.matchAll(/action="([^"]+)"/g)].map(([, action]) => action),
      ['/account/sign-out'],
    )
  }
})

test('what ends all others stands before the list, and a session that is gone is said above it', () => {
  const error = 'Gone.'
  const page = { sessions: [session()], total: 2, isFresh: true, error }
  const text = sessionsPage(FRAME, page).toString()
  const places = ['role="alert">Gone.', 'sessions/end-others"', '<ul class="entries">'].map(
    (part) => text.indexOf(part),
  )
  assert.ok(!places.includes(-1))
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  )
  assert.match(text, /tabindex="-1" autofocus role="alert"/)
})

test('those that are not shown are counted', () => {
  const text = sessionsPage(FRAME, { sessions: [session()], total: 61, isFresh: true }).toString()
  assert.ok(text.includes('60 older sessions are not shown.'))
})

test('a time is written for users and for programs', () => {
  const text = PAGES.sessions.toString()
  assert.ok(text.includes('<time datetime="2026-01-02T03:04:05.000Z">2 Jan 2026, 03:04 UTC</time>'))
})

test('the title of a tab says which page it is, and first that something went wrong', () => {
  const titleIn = (page: { toString(): string }) => /<title>(.*)<\/title>/.exec(`${page}`)?.[1]
  assert.equal(titleIn(PAGES.overview), 'Overview – Your account')
  assert.equal(titleIn(PAGES.password), 'Error: Password – Your account')
  assert.equal(titleIn(PAGES['app on']), 'Error: Authenticator app – Your account')
  assert.equal(titleIn(PAGES['recovery codes']), 'Your new recovery codes – Your account')
  assert.equal(titleIn(signedOutPage(EN)), 'Signed out – Your account')
})

test('the rule for a new password is said before it is broken, and belongs to the field', () => {
  const text = passwordPage(FRAME, { username: 'x', shortest: 15 }).toString()
  assert.match(text, /<input id="password" [^>]*aria-describedby="rule">/)
  assert.match(text, /id="rule">At least 15 characters\./)
})

test('a certificate says who renews it, and whether a renewal is under way', () => {
  const shown = (isIssuedByNetwork: boolean, renewalFingerprint: string | undefined) =>
    certificatesPage(FRAME, [
      {
        fingerprint: 'ab12',
        notBefore: AT,
        notAfter: AT,
        isExpired: false,
        isIssuedByNetwork,
        renewalFingerprint,
      },
    ]).toString()
  assert.ok(shown(true, undefined).includes('The program that holds the key renews'))
  assert.ok(shown(false, undefined).includes('renewed where it was issued'))
  assert.ok(!shown(true, undefined).includes('A renewal is in progress.'))
  assert.ok(shown(true, 'cd34').includes('<span>cd34</span>'))
})

test('recovery codes come with the page that begins, and not with the one after a wrong code', () => {
  const page = { proof: 'x', provisioningUrl: 'otpauth://totp/id.example.org:zoe?secret=B' }
  const first = totpSetUpPage(FRAME, { ...page, recoveryCodes: ['ABCDEF'] }).toString()
  assert.ok(first.includes('<code>ABCDEF</code>'))
  assert.ok(
    !totpSetUpPage(FRAME, { ...page, error: 'no' })
      .toString()
      .includes('class="codes"'),
  )
})

test('recovery codes say on paper whose they are', () => {
  assert.match(
    PAGES['recovery codes'].toString(),
    /<p class="printed">Recovery codes for <bdi>.*<\/bdi>, id\.example\.org<\/p>/,
  )
  const page = { proof: 'x', provisioningUrl: 'otpauth://totp/id.example.org:zo%3A%C3%AB?secret=B' }
  const text = totpSetUpPage(FRAME, { ...page, recoveryCodes: ['ABCDEF'] }).toString()
  assert.ok(
    text.includes('<p class="printed">Recovery codes for <bdi>zo:ë</bdi>, id.example.org</p>'),
  )
})

test('every note is said aloud on the next page', () => {
  for (const note of Object.keys(en).map((key) => key.replace(/^note\./, ''))) {
    if (!isNote(note)) continue
    const text = passwordPage({ ...FRAME, note }, { username: 'x', shortest: 8 }).toString()
    assert.ok(
      text.includes(`tabindex="-1" autofocus role="status">${en[`note.${note}`]}</p>`),
      note,
    )
  }
})

test('every failure has words, the general ones where there are no others', () => {
  assert.equal(accountErrorText(EN, 'NOT_FOUND').title, 'Page not found')
  for (const code of ['UNHANDLED', 'constructor', '__proto__']) {
    assert.equal(accountErrorText(EN, code).title, 'Nothing was changed')
  }
})

test('pages without a session have no menu; a refusal names the request, a blocked one the way out', () => {
  const refused = failurePage(EN, { title: 'No', message: EVIL, requestId: 'request-1' }).toString()
  assert.ok(refused.includes('<code>request-1</code>') && refused.includes(ESCAPED))
  const blocked = blockedPage(EN, (path) => `token of ${path}`).toString()
  assert.ok(blocked.includes('value="token of /account/sign-out"'))
  for (const text of [refused, blocked, signedOutPage(EN).toString()])
    assert.ok(!text.includes('<nav'))
})

test('the content security policy allows the stylesheet of these pages and nothing else', () => {
  const { source } = accountSheet(PLAIN_BRANDING)
  const policy = contentSecurityPolicy({ formAction: [], style: source })
  assert.ok(policy.includes(`style-src ${source};`))
  assert.ok(policy.includes("form-action 'self';"))
})
