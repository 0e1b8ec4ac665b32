/**
 * The hashing queue is fair: D-215, R081. Attack: a few machines keep the queue full of wrong passwords, so that logins
 * from other networks are rejected. Passwords are hashed with the default strength, one at a time, so that there is a
 * queue; the test asserts which logins succeed, not how long they take.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Reply } from '../../support/http-client.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { assertRefused } from '../../support/management.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'

const CONFIG = {
  edge: {
    limits: { failuresPerAddress: 0, trustedProxies: ['127.0.0.0/8', '::1'] },
    passwords: { hashing: 1, queue: 16 },
  },
}

function logIn(
  service: Service,
  from: string,
  credentials: { username: string; password: string } = ADMIN,
): Promise<Reply> {
  const { username, password } = credentials
  return service.call(`${CLIENT_API}/authenticate?method=password`, {
    json: { username, password },
    headers: { 'x-forwarded-for': from },
  })
}

/** Keeps this many wrong passwords of each network in progress until it is stopped. */
function flood(service: Service, networks: readonly string[], each: number) {
  let isOver = false
  const refused: Reply[] = []
  const work = networks.flatMap((network, i) =>
    Array.from({ length: each }, async (_, j) => {
      while (!isOver) {
        const guess = { username: `nobody-${i}-${j}`, password: 'a guess' }
        const reply = await logIn(service, network, guess)
        if (reply.status === 401) continue
        refused.push(reply)
        await pause(20)
      }
    }),
  )
  return {
    refused,
    async stop() {
      isOver = true
      await Promise.all(work)
    },
  }
}

test('R081: five networks that keep guessing do not cause a login from another network to be rejected', async (t) => {
  const service = await startService(t, { config: CONFIG, hashing: 'as shipped' })
  const networks = [1, 2, 3, 4, 5].map((i) => `198.51.100.${i}`)
  const attack = flood(service, networks, 6)
  try {
    // Wait until the queue is full, and attackers are rejected.
    while (attack.refused.length === 0) await pause(10)
    for (let i = 0; i < 6; i++) {
      const reply = await logIn(service, '192.0.2.1')
      assert.equal(reply.status, 200, reply.text)
    }
  } finally {
    await attack.stop()
  }
  for (const reply of attack.refused) {
    assertRefused(reply, 503, 'SERVER_TOO_BUSY')
    assert.match(String(reply.headers['retry-after']), /^[1-9]\d*$/)
  }
})

test('D-215: a network that is alone may use the whole queue', async (t) => {
  const service = await startService(t, { config: CONFIG, hashing: 'as shipped' })
  const replies = await Promise.all(Array.from({ length: 17 }, () => logIn(service, '192.0.2.1')))
  for (const reply of replies) assert.equal(reply.status, 200, reply.text)
})

test('R078: a rejected guess was not checked, and does not count', async (t) => {
  const limit = 45
  const service = await startService(t, {
    config: {
      edge: { limits: { failuresPerAddress: limit }, passwords: { hashing: 1, queue: 2 } },
    },
    hashing: 'as shipped',
  })
  const guess = { username: 'nobody', password: 'a guess' }
  const replies = await Promise.all(Array.from({ length: 40 }, () => logIn(service, '', guess)))
  const judged = replies.filter(({ status }) => status === 401).length
  assert.equal(replies.filter(({ status }) => status === 503).length, 40 - judged)
  for (let i = judged; i < limit; i++) {
    assertRefused(await logIn(service, '', guess), 401, 'INVALID_AUTH')
  }
  assertRefused(await logIn(service, '', guess), 429, 'RATE_LIMITED')
})
