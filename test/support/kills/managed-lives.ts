/**
 * Lives of identities, policies and signers, as administrators lead them through the management API and people end their
 * enrollments; and, beside them, logins of whoever can log in. Chance chooses what happens next. API 3.1 to 3.3.
 */
import assert from 'node:assert/strict'
import { decodeJwt } from 'jose'
import { handMadeCsr } from '../certificates/csr.ts'
import { enrollByCsr, enrollByPassword } from '../certificates/enrollment.ts'
import type { Chance } from '../chance/chance.ts'
import type { Reply } from '../http-client.ts'
import { bearer, beginLogin, exchange, REDIRECT_URI, submitPassword } from '../login/login.ts'
import { refresh } from '../login/refresh.ts'
import type { Administrator } from '../management.ts'
import type { Service as RunningService } from '../service.ts'
import type { Entry, Ledger, State } from './ledger.ts'

type Service = Pick<RunningService, 'baseUrl' | 'call'>

export interface Lives {
  readonly service: Service
  readonly admin: Administrator
  readonly ledger: Ledger
  readonly chance: Chance
}

const CSR = handMadeCsr()

let count = 0
const fresh = (kind: string) => {
  count += 1
  return `${kind}-${count}`
}
const freshPassword = () => fresh('a password of somebody')

/** From its making to its end or, in some lives, not to its end. */
export async function lifeOfAnIdentity(lives: Lives): Promise<void> {
  const { admin, ledger, chance } = lives
  const name = fresh('person')
  const entry = ledger.open('identity', name)
  const password = freshPassword()
  const way = (['none', 'updb', 'ott'] as const)[chance.below(3)] ?? 'none'
  const state = {
    name,
    revision: 0,
    isDisabled: false,
    username: null,
    hasCertificate: false,
    open: way === 'none' ? [] : [way],
  }
  const enrollment = { none: undefined, updb: { updb: name }, ott: { ott: true } }[way]
  const body = { name, type: 'Default', isAdmin: false, tags: { revision: 0 }, enrollment }
  const events = ['identity.created', ...(way === 'none' ? [] : ['enrollment.created'])]
  const made = await ledger.change(entry, { after: state, events }, () =>
    admin.call('POST', '/identities', body),
  )
  if (way === 'none') await addPassword(lives, entry, name, password)
  else await enroll(lives, entry, made.json().data.enrollment.token, { way, name, password })

  for (let more = chance.below(6); more > 0; more--) {
    const acts = [patch, put, changePassword, disable, enable, removeAuthenticator]
    await acts[chance.below(acts.length)]?.(lives, entry)
  }
  if (chance.percent(40)) await remove(lives, entry, '/identities', 'identity.deleted')
}

type Act = (lives: Lives, entry: Entry) => Promise<unknown>

const stateOf = ({ known }: Entry): State => known ?? assert.fail('it is there')

function addPassword(
  { admin, ledger }: Lives,
  entry: Entry,
  username: string,
  password: string,
): Promise<Reply> {
  const after = { ...stateOf(entry), username }
  const change = { after, events: ['authenticator.created'], password }
  return ledger.change(entry, change, () =>
    admin.call('POST', '/authenticators', {
      method: 'updb',
      identityId: entry.id,
      username,
      password,
    }),
  )
}

function enroll(
  { service, ledger }: Lives,
  entry: Entry,
  token: string,
  { way, name, password }: { way: 'updb' | 'ott'; name: string; password: string },
): Promise<Reply> {
  const events = ['enrollment.used', 'authenticator.created']
  const state = { ...stateOf(entry), open: [] }
  return way === 'updb'
    ? ledger.change(entry, { after: { ...state, username: name }, events, password }, () =>
        enrollByPassword(service, token, { username: name, password }),
      )
    : ledger.change(entry, { after: { ...state, hasCertificate: true }, events }, () =>
        enrollByCsr(service, token, CSR),
      )
}

const patch: Act = ({ admin, ledger }, entry) => {
  const revision = Number(stateOf(entry)['revision']) + 1
  const change = { after: { ...stateOf(entry), revision }, events: ['identity.updated tags'] }
  return ledger.change(entry, change, () =>
    admin.call('PATCH', `/identities/${entry.id}`, { tags: { revision } }),
  )
}

const put: Act = ({ admin, ledger }, entry) => {
  const name = fresh('renamed')
  const revision = Number(stateOf(entry)['revision']) + 1
  const after = { ...stateOf(entry), name, revision }
  return ledger.change(entry, { after, events: ['identity.updated name+tags'] }, () =>
    admin.call('PUT', `/identities/${entry.id}`, {
      name,
      type: 'Default',
      isAdmin: false,
      tags: { revision },
    }),
  )
}

async function authenticatorOf({ admin }: Lives, { id }: Entry): Promise<string | undefined> {
  const [one] = await admin.get(`/identities/${id}/authenticators`)
  return one?.id
}

const changePassword: Act = async (lives, entry) => {
  if (stateOf(entry)['username'] === null) return
  const id = await authenticatorOf(lives, entry)
  const password = freshPassword()
  const change = {
    after: stateOf(entry),
    events: ['authenticator.updated password'],
    password,
  }
  await lives.ledger.change(entry, change, () =>
    lives.admin.call('PATCH', `/authenticators/${id}`, { password }),
  )
}

const disable: Act = ({ admin, ledger }, entry) => {
  const after = { ...stateOf(entry), isDisabled: true }
  return ledger.change(entry, { after, events: ['identity.disabled'] }, () =>
    admin.call('POST', `/identities/${entry.id}/disable`, {}),
  )
}

const enable: Act = ({ admin, ledger }, entry) => {
  // Enabling whoever is enabled changes nothing, and is no event.
  const events = stateOf(entry)['isDisabled'] === true ? ['identity.enabled'] : []
  const after = { ...stateOf(entry), isDisabled: false }
  return ledger.change(entry, { after, events }, () =>
    admin.call('POST', `/identities/${entry.id}/enable`, {}),
  )
}

const removeAuthenticator: Act = async (lives, entry) => {
  const id = await authenticatorOf(lives, entry)
  if (id === undefined) return
  const after = { ...stateOf(entry), username: null, hasCertificate: false }
  await lives.ledger.change(entry, { after, events: ['authenticator.deleted'] }, () =>
    lives.admin.call('DELETE', `/authenticators/${id}`),
  )
}

function remove(
  { admin, ledger }: Lives,
  entry: Entry,
  path: string,
  event: string,
): Promise<Reply> {
  return ledger.change(entry, { after: undefined, events: [event] }, () =>
    admin.call('DELETE', `${path}/${entry.id}`),
  )
}

export function lifeOfAPolicy(lives: Lives): Promise<void> {
  const primary = { updb: { allowed: true } }
  return lifeOfARule(lives, 'policy', '/auth-policies', () => ({ primary }))
}

export function lifeOfASigner(lives: Lives): Promise<void> {
  const rest = { audience: 'latchkey', jwksEndpoint: 'https://127.0.0.1:1/keys' }
  return lifeOfARule(lives, 'external-jwt-signer', '/external-jwt-signers', (name) => ({
    ...rest,
    issuer: `https://idp.example/${name}`,
  }))
}

async function lifeOfARule(
  { admin, ledger, chance, service }: Lives,
  kind: 'policy' | 'external-jwt-signer',
  path: string,
  bodyOf: (name: string) => object,
): Promise<void> {
  const name = fresh(kind)
  const entry = ledger.open(kind, name)
  const body = { ...bodyOf(name), name, tags: { revision: 0 } }
  const made = { after: { name, revision: 0 }, events: [`${kind}.created`] }
  await ledger.change(entry, made, () => admin.call('POST', path, body))
  const revisions = chance.below(4)
  for (let revision = 1; revision <= revisions; revision++) {
    const change = { after: { name, revision }, events: [`${kind}.updated tags`] }
    const tags = { revision }
    await ledger.change(entry, change, () =>
      chance.percent(50)
        ? admin.call('PATCH', `${path}/${entry.id}`, { tags })
        : admin.call('PUT', `${path}/${entry.id}`, { ...body, tags }),
    )
  }
  if (chance.percent(50)) {
    await remove({ admin, ledger, chance, service }, entry, path, `${kind}.deleted`)
  }
}

/** A session that was begun, as its holder knows it. */
export interface Begun {
  readonly sessionId: string
  readonly token: string
}

/**
 * Somebody logs in, refreshes, takes a certificate and begins with TOTP, while his administrator does what he does:
 * each step is taken, or refused as for somebody who may no longer.
 */
export async function loginOfSomebody(
  { service, ledger, chance }: Lives,
  begun: Begun[],
): Promise<boolean> {
  const able = ledger.entries.filter(
    ({ known, password }) =>
      password !== undefined && typeof known?.['username'] === 'string' && !known['isDisabled'],
  )
  const who = able[chance.below(able.length)]
  if (who === undefined) return false
  const asked = { scope: 'openid offline_access' }
  const { authRequestId, verifier } = await beginLogin(service, asked)
  const credentials = { username: String(who.known?.['username']), password: who.password ?? '' }
  const proven = await submitPassword(service, authRequestId, credentials)
  if (!isTaken(proven, 302, [401])) return true
  const code = new URL(proven.headers.location ?? '').searchParams.get('code') ?? ''
  const form = { code, code_verifier: verifier, redirect_uri: REDIRECT_URI }
  const tokens = await exchange(service, form)
  if (!isTaken(tokens, 200, [400])) return true
  const { access_token: token, refresh_token } = tokens.json()
  begun.push({ sessionId: String(decodeJwt(token)['z_asid']), token })
  const post = (path: string, body: object) =>
    service.call(`/edge/client/v1${path}`, { ...bearer(token), method: 'POST', ...body })
  if (!isTaken(await refresh(service, refresh_token), 200, [400])) return true
  const asking = { json: { csr: CSR } }
  isTaken(await post('/current-api-session/certificates', asking), 201, [401])
  if (chance.percent(50)) isTaken(await post('/current-identity/mfa', {}), 201, [401])
  return true
}

function isTaken(reply: Reply, success: number, refusals: readonly number[]): boolean {
  assert.ok(reply.status === success || refusals.includes(reply.status), reply.text)
  return reply.status === success
}
