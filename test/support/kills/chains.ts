/**
 * Sessions that are refreshed, get certificates and are logged out until the service dies under them, and what must hold after
 * the next start: nothing that was ended works, and nothing that was answered is lost.
 */
import assert from 'node:assert/strict'
import { handMadeCsr } from '../certificates/csr.ts'
import { onceReady } from '../http-client.ts'
import { bearer } from '../login/login.ts'
import {
  assertRefreshRefused,
  logInOffline,
  type OfflineTokens,
  refresh,
  refreshed,
} from '../login/refresh.ts'
import type { ChildService } from '../process/child-service.ts'
import { type Mortal, workUntilKilled } from './rounds.ts'

const WORKERS = 6

const CERTIFICATES = '/edge/client/v1/current-api-session/certificates'
const CSR = handMadeCsr()

/** One session, as its client knows it: by the answers that it got. */
export interface Chain {
  /** What was answered, oldest first; the last one is good, the others are spent. */
  readonly answered: OfflineTokens[]
  /** What was sent last, and is not answered. */
  pending: 'refresh' | 'certificate' | 'removal' | 'logout' | undefined
  /** Certificates whose issue was answered, and those of them whose removal was. */
  readonly issued: string[]
  readonly removed: string[]
  isLoggedOut: boolean
}

/** Workers refresh and log out, all at the same time, until the service is killed under them. */
export async function workOnChains(
  service: ChildService,
  answers: number,
): Promise<readonly Chain[]> {
  const chains: Chain[] = []
  let count = 0
  await workUntilKilled(service, WORKERS, (mortal, worker, kill) => {
    // The answer itself pulls the trigger, so that the next writes are under way.
    const answered = () => {
      count += 1
      if (count === answers) kill()
    }
    // Of different lengths, so that the kill meets logouts as well as refreshes.
    return live(mortal, chains, { refreshes: 1 + (worker % 4), answered })
  })
  return chains
}

/** A login, some refreshes, a logout. */
async function live(
  service: Mortal,
  chains: Chain[],
  { refreshes, answered }: { readonly refreshes: number; readonly answered: () => void },
): Promise<void> {
  const chain: Chain = {
    answered: [],
    pending: undefined,
    issued: [],
    removed: [],
    isLoggedOut: false,
  }
  let current = await logInOffline(service)
  chain.answered.push(current)
  chains.push(chain)
  for (let i = 0; i < refreshes; i++) {
    chain.pending = 'refresh'
    current = await refreshed(service, current.refresh_token)
    chain.answered.push(current)
    chain.pending = undefined
    answered()
    await useCertificates(service, chain, current.access_token, answered)
  }
  chain.pending = 'logout'
  const reply = await service.call(`/oidc/end_session?id_token_hint=${current.id_token}`)
  assert.equal(reply.status, 200, reply.text)
  chain.pending = undefined
  chain.isLoggedOut = true
  answered()
}

/** Two are issued, and one of them is removed. */
async function useCertificates(
  service: Mortal,
  chain: Chain,
  token: string,
  answered: () => void,
): Promise<void> {
  for (let i = 0; i < 2; i++) {
    chain.pending = 'certificate'
    const reply = await service.call(CERTIFICATES, {
      ...bearer(token),
      method: 'POST',
      json: { csr: CSR },
    })
    assert.equal(reply.status, 201, reply.text)
    chain.issued.push(reply.json().data.id)
    chain.pending = undefined
    answered()
  }
  chain.pending = 'removal'
  const id = chain.issued.at(-1) ?? ''
  const reply = await service.call(`${CERTIFICATES}/${id}`, { ...bearer(token), method: 'DELETE' })
  assert.equal(reply.status, 200, reply.text)
  chain.removed.push(id)
  chain.pending = undefined
  answered()
}

/** What was issued is there, what was removed is not, whatever stood between the two. */
async function checkCertificates(service: ChildService, chain: Chain, token: string) {
  const reply = await onceReady(() => service.call(`${CERTIFICATES}?limit=500`, bearer(token)))
  assert.equal(reply.status, 200, reply.text)
  const listed = new Set(reply.json().data.map(({ id }: { id: string }) => id))
  for (const id of chain.removed) assert.equal(listed.has(id), false, 'a removal holds')
  const doubtful = chain.pending === 'removal' ? chain.issued.at(-1) : undefined
  for (const id of chain.issued) {
    if (chain.removed.includes(id) || id === doubtful) continue
    assert.equal(listed.has(id), true, 'a certificate that was answered is there')
  }
}

/** Answers the tokens of which nothing works any more. */
export async function checkChain(
  service: ChildService,
  chain: Chain,
): Promise<readonly OfflineTokens[]> {
  const { answered, pending, isLoggedOut } = chain
  const current = answered.at(-1)
  assert.ok(current)
  const isAlive = await isTaken(service, current.access_token)
  if (isLoggedOut) assert.equal(isAlive, false, 'a logout that was answered holds')
  if (!isLoggedOut && pending !== 'logout') assert.equal(isAlive, true, 'nobody has ended it')
  for (const { access_token } of answered) {
    assert.equal(await isTaken(service, access_token), isAlive, 'one session, one state')
  }
  if (!isAlive) {
    for (const tokens of answered) await assertOver(service, tokens)
    return answered
  }
  await checkCertificates(service, chain, current.access_token)
  let isSent = pending === 'refresh'
  const reply = await onceReady(async () => {
    const one = await refresh(service, current.refresh_token)
    // Of a busy instance (D-250): it may have happened nevertheless.
    isSent ||= one.status === 503
    return one
  })
  if (reply.status !== 200) {
    // Spent, and its answer was lost with the process: only where one was under way.
    assertRefreshRefused(reply)
    assert.equal(isSent, true, 'a refresh token that was answered is good')
  }
  // Every earlier one is spent; showing it ends the session where its successor was used, and gets nothing in any case.
  for (const tokens of answered.slice(0, -1)) {
    assertRefreshRefused(await onceReady(() => refresh(service, tokens.refresh_token)))
  }
  return []
}

async function isTaken(service: ChildService, token: string): Promise<boolean> {
  const path = '/edge/client/v1/current-api-session'
  const { status, text } = await onceReady(() => service.call(path, bearer(token)))
  assert.ok(status === 200 || status === 401, text)
  return status === 200
}

export async function assertOver(service: ChildService, tokens: OfflineTokens): Promise<void> {
  assert.equal(await isTaken(service, tokens.access_token), false)
  assertRefreshRefused(await onceReady(() => refresh(service, tokens.refresh_token)))
}
