/**
 * A program that calls with the `fetch` of Node: it keeps no cookies, and sends `Sec-Fetch-Mode`, which a program cannot
 * leave out. It is not a browser (D-10).
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import {
  answerOf,
  beginLogin,
  exchange,
  REDIRECT_URI,
  submitPassword,
} from '../../support/login/login.ts'
import { assertRefused } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'

/** The fetch metadata that the `fetch` of this Node sends. */
async function fetchMetadata(): Promise<Record<string, string>> {
  let sent: [string, unknown][] = []
  const server = createServer((request, response) => {
    sent = Object.entries(request.headers).filter(([name]) => name.startsWith('sec-'))
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { method: 'POST' })
  } finally {
    server.close()
  }
  return Object.fromEntries(sent.map(([name, value]) => [name, String(value)]))
}

function calledWith(service: Service, added: Record<string, string>): Service {
  const call: Service['call'] = (path, options) =>
    service.call(path, { ...options, headers: { ...options?.headers, ...added } })
  return { ...service, call }
}

test('D-10: a login with the fetch of Node needs no cookie', async (t) => {
  const service = await startService(t)
  const metadata = await fetchMetadata()
  assert.deepEqual(metadata, { 'sec-fetch-mode': 'cors' })
  const program = calledWith(service, metadata)
  const { authRequestId, verifier } = await beginLogin(program)
  const code = answerOf(await submitPassword(program, authRequestId)).get('code') ?? ''
  const tokens = await exchange(program, {
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
  })
  assert.equal(tokens.status, 200, tokens.text)
})

test('D-10: with Sec-Fetch-Site, which every browser sends, it does', async (t) => {
  const service = await startService(t)
  const { authRequestId } = await beginLogin(service)
  for (const site of ['none', 'same-origin', 'same-site', 'cross-site']) {
    const browser = calledWith(service, { 'sec-fetch-site': site })
    assertRefused(await submitPassword(browser, authRequestId), 400, 'INVALID_AUTH_REQUEST')
    const begun = await beginLogin(browser)
    const withoutCookie = await submitPassword(service, begun.authRequestId)
    assertRefused(withoutCookie, 400, 'INVALID_AUTH_REQUEST')
  }
  assert.equal((await submitPassword(service, authRequestId)).status, 302)
})
