/** GET /console/identities/:id: everything about one identity, and what can be done about it. */
import type { Instant } from '../../../base/time/instant.ts'
import { type HtmlValue, html, type SafeHtml } from '../../login/html.ts'
import { eventList, type ShownEvent } from '../events/event-list.ts'
import { type ConsoleFrame, confirmFirst, consoleLayout } from '../layout.ts'
import {
  auditPath,
  IDENTITIES_PATH,
  identityEditPath,
  identityPath,
  sessionPath,
  sessionsPath,
} from '../navigation.ts'
import {
  action,
  badge,
  dangerous,
  empty,
  exactTime,
  facts,
  plural,
  section,
  table,
  time,
} from '../parts.ts'
import { type ListedSession, sessionTable } from '../sessions/session-table.ts'
import { type ListedIdentity, stateOf } from './identities-page.ts'

export interface IdentityPage extends ListedIdentity {
  readonly externalId: string | undefined
  readonly roles: readonly string[]
  /** Of a router. */
  readonly hosts: readonly string[]
  readonly tags: readonly (readonly [string, string])[]
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly disabledUntil: Instant | undefined
  readonly credentials: readonly ShownCredential[]
  /** The names of its passkeys (D-430). */
  readonly passkeys: readonly string[]
  readonly invitations: readonly ShownInvitation[]
  readonly sessions: readonly ListedSession[]
  readonly sessionsTotal: number
  readonly sessionCertificates: readonly ShownSessionCertificate[]
  readonly events: readonly ShownEvent[]
  readonly eventsTotal: number
}

export type ShownCredential =
  | {
      readonly id: string
      readonly kind: 'password'
      readonly username: string
      readonly lockedUntil: Instant | undefined
      readonly lastUsedAt: Instant | undefined
    }
  | {
      readonly id: string
      readonly kind: 'certificate'
      readonly fingerprint: string
      readonly notAfter: Instant | undefined
      readonly isExpired: boolean
      readonly isIssuedByNetwork: boolean
      readonly lastUsedAt: Instant | undefined
    }

export interface ShownSessionCertificate {
  readonly sessionId: string
  readonly subject: string
  readonly fingerprint: string
  readonly validTo: Instant
}

export interface ShownInvitation {
  readonly id: string
  readonly what: string
  readonly expiresAt: Instant
  readonly isOpen: boolean
  /** A reset, which replaces what the identity has; a new one replaces it. */
  readonly isReset: boolean
}

export function identityPage(frame: ConsoleFrame, page: IdentityPage): SafeHtml {
  const { id, name } = page
  return consoleLayout(frame, {
    section: IDENTITIES_PATH,
    title: name,
    lead: html`<p class="lead">${stateOf(page)}</p>`,
    content: html`${confirmFirst(frame)}${section(
      'About',
      facts([
        ['Policy', html`<bdi>${page.policy}</bdi>`],
        ['External ID', page.externalId && html`<bdi>${page.externalId}</bdi>`],
        ['Roles', page.roles.length > 0 && html`<bdi>${page.roles.join(', ')}</bdi>`],
        ['Hosts', page.hosts.length > 0 && page.hosts.join(', ')],
        ['Last sign-in', time(page.lastLoginAt, 'never')],
        ['Created', time(page.createdAt)],
        ['Changed', time(page.updatedAt)],
        ['Disabled until', page.isDisabled && exactTime(page.disabledUntil, 'enabled again')],
        ['ID', html`<code>${id}</code>`],
        ...page.tags.map(([tag, value]) => [`Tag ${tag}`, html`<bdi>${value}</bdi>`] as const),
      ]),
      html`<a class="button quiet" href="${identityEditPath(id)}">Edit</a>`,
    )}<div class="columns">
${section('Ways to sign in', credentials(frame, page))}
${section('Change', changes(frame, page))}
</div>
${section(
  'Sessions',
  page.sessions.length === 0
    ? empty('Not signed in anywhere', 'A session appears here as soon as a sign-in finishes.')
    : sessionTable(page.sessions),
  page.sessionsTotal > 0 &&
    html`<a href="${sessionsPath({ identity: name })}">${plural(page.sessionsTotal, 'session')}</a>`,
)}${page.sessionCertificates.length > 0 && section('Certificates of these sessions', certificateTable(page.sessionCertificates))}${section(
  'Timeline',
  page.events.length === 0
    ? empty('Nothing has happened yet', 'Events are kept for as long as the configuration says.')
    : eventList(page.events, id),
  page.eventsTotal > 0 &&
    html`<a href="${auditPath({ person: id })}">${plural(page.eventsTotal, 'event')}</a>`,
)}`,
  })
}

function certificateTable(rows: readonly ShownSessionCertificate[]): SafeHtml {
  return table(
    'Certificates of these sessions',
    [
      { title: 'Subject', look: 'wide', cell: ({ subject }) => html`<bdi>${subject}</bdi>` },
      {
        title: 'Fingerprint',
        look: 'wide',
        cell: ({ fingerprint }) => html`<code>${fingerprint}</code>`,
      },
      { title: 'Valid until', cell: ({ validTo }) => exactTime(validTo) },
      {
        title: 'Session',
        cell: ({ sessionId }) => html`<a href="${sessionPath(sessionId)}">${sessionId}</a>`,
      },
    ],
    rows,
  )
}

function secondFactorsOf({ passkeys }: IdentityPage): SafeHtml {
  return passkeys.length === 0
    ? html`Authenticator app: a sign-in also asks for a code.`
    : html`Passkeys: ${passkeys.join(', ')}. A sign-in also asks for one, or for a code if there is an authenticator app.`
}

function credentials(frame: ConsoleFrame, page: IdentityPage): SafeHtml {
  const { credentials: own, invitations, hasSecondFactor, externalId } = page
  const entries = [
    ...own.map((one) => credential(frame, page, one)),
    externalId !== undefined &&
      html`<li><h3>Account of an identity provider</h3><p class="hint">Signs in with a JWT or a certificate that has the external ID <bdi>${externalId}</bdi>, if the policy allows it.</p></li>\n`,
    hasSecondFactor &&
      html`<li><h3>Second factor ${badge('good', 'On')}</h3><p class="hint">${secondFactorsOf(page)}</p>${resetLink(frame, page.id, 'reset-mfa')}</li>\n`,
    ...invitations.map((one) => invitation(one)),
  ].filter((one) => one !== false)
  if (entries.length === 0) {
    return empty(
      'Nothing to sign in with',
      'Invite this identity, and hand over what the next page shows.',
    )
  }
  return html`<ul class="entries">
${entries}</ul>`
}

function credential(
  frame: ConsoleFrame,
  { id, name }: IdentityPage,
  one: ShownCredential,
): SafeHtml {
  const used = html`<p class="hint">Last used: ${time(one.lastUsedAt, 'never')}</p>`
  const again = dangerous(frame, {
    path: `${identityPath(id)}/re-invite`,
    label: 'Replace by an invitation',
    consequence: `This ${one.kind} of ${name} stops working now, and the sessions that began with it end. You get an invitation for a new one.`,
    fields: html`<input type="hidden" name="credential" value="${one.id}">`,
  })
  if (one.kind === 'password') {
    const lock =
      one.lockedUntil !== undefined &&
      html`<p>${badge('warn', 'Locked')} until ${exactTime(one.lockedUntil)}, for networks that guessed.</p>
${action(frame, {
  path: `${identityPath(id)}/unlock`,
  label: 'Unlock',
  fields: html`<input type="hidden" name="credential" value="${one.id}">`,
})}`
    return html`<li><h3>Password of <bdi>${one.username}</bdi></h3>${used}${lock}<div class="actions">${resetLink(frame, id, 'reset-password')}${again}</div></li>\n`
  }
  return html`<li><h3>Certificate ${one.isExpired && badge('bad', 'Expired')}</h3>
<p class="hint">${one.isIssuedByNetwork ? 'Issued here' : 'Issued by another authority'}${one.notAfter !== undefined && html`, valid until ${exactTime(one.notAfter)}`}</p>
<p class="hint"><code>${one.fingerprint}</code></p>${used}<div class="actions">${again}</div></li>\n`
}

/** For a user who forgot a password or lost a phone: nothing changes until the link is used. */
function resetLink(
  frame: ConsoleFrame,
  id: string,
  method: 'reset-password' | 'reset-mfa',
): SafeHtml {
  return action(frame, {
    path: `${identityPath(id)}/invite`,
    label: 'Create reset link',
    fields: html`<input type="hidden" name="method" value="${method}">`,
  })
}

function invitation({ what, expiresAt, isOpen, isReset }: ShownInvitation): SafeHtml {
  return html`<li><h3>${isReset ? 'Reset link' : 'Invitation'} ${isOpen ? badge('warn', 'Open') : badge('quiet', 'Expired')}</h3>
<p class="hint">${what}, ${isOpen ? 'until' : 'since'} ${exactTime(expiresAt)}</p></li>\n`
}

function changes(frame: ConsoleFrame, page: IdentityPage): SafeHtml {
  const { id, name, sessionsTotal, isDisabled, hasSecondFactor, credentials: own } = page
  const at = (what: string) => `${identityPath(id)}/${what}`
  const ends = sessionsTotal === 0 ? '' : ` and ends ${plural(sessionsTotal, 'session')}`
  const parts: readonly HtmlValue[] = [
    isDisabled && action(frame, { path: at('enable'), label: 'Enable' }),
    own.length < 2 && invite(frame, page),
    sessionsTotal > 0 &&
      dangerous(frame, {
        path: at('sign-out'),
        label: 'Sign out everywhere',
        consequence: `Ends ${plural(sessionsTotal, 'session')} of ${name}, on every router too. ${name} can sign in again.`,
      }),
    hasSecondFactor &&
      dangerous(frame, {
        path: at('reset-second-factor'),
        label: 'Reset second factor',
        consequence: `Removes the authenticator app, the passkeys and the recovery codes of ${name}, for a lost phone. Until a new one is set up, the first factor alone is enough, unless the policy demands a second.`,
      }),
    !isDisabled &&
      dangerous(frame, {
        path: at('disable'),
        label: 'Disable',
        consequence: `Keeps ${name} from signing in${ends}. You can enable it again.`,
        fields: html`<p><label for="minutes">For how long</label>
<select id="minutes" name="minutes"><option value="0">Until it is enabled again</option><option value="60">One hour</option><option value="1440">One day</option><option value="10080">One week</option></select></p>`,
      }),
    dangerous(frame, {
      path: at('delete'),
      label: 'Delete',
      consequence: `Deletes ${name}${own.length === 0 ? '' : ` with ${plural(own.length, 'credential')}`}${ends}. This cannot be undone. Events keep the name.`,
    }),
  ]
  return html`<div class="stack">
${parts}</div>`
}

/** For a method that the identity does not have yet. */
function invite(
  frame: ConsoleFrame,
  { id, name, credentials: own, invitations }: IdentityPage,
): SafeHtml {
  const has = (kind: ShownCredential['kind']) => own.some((one) => one.kind === kind)
  const open = invitations.find(({ isOpen, isReset }) => isOpen && !isReset)
  if (open !== undefined) {
    return action(frame, {
      path: `${identityPath(id)}/renew-invitation`,
      label: 'New code for the invitation',
      fields: html`<input type="hidden" name="invitation" value="${open.id}">`,
    })
  }
  return html`<details class="fold"><summary>Invite&hellip;</summary>
<div>
${action(frame, {
  path: `${identityPath(id)}/invite`,
  label: 'Create invitation',
  fields: html`<fieldset><legend>For</legend>
${!has('password') && html`<p><label><input type="radio" name="method" value="updb" checked> a password, for</label> <input aria-label="Username" name="username" value="${name}" maxlength="100" autocomplete="off" autocapitalize="none" spellcheck="false"></p>`}
${!has('certificate') && html`<p><label><input type="radio" name="method" value="ott"${has('password') && html` checked`}> a certificate, for a program or device</label></p>`}
</fieldset>`,
})}
</div></details>`
}
