/**
 * A shutdown loses no response: everything that was committed before the process ended was also answered, even with
 * other responses before it on the connection. D-197, D-27.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { rounds } from '../support/chance/rounds.ts'
import { connectRaw, type RawReply } from '../support/edge/raw-connection.ts'
import { logInOffline, type OfflineTokens, refresh } from '../support/login/refresh.ts'
import { fixPort } from '../support/process/child-home.ts'
import { type ChildService, startChild } from '../support/process/child-service.ts'
import { preparedHomeOn } from '../support/process/prepared-home.ts'
import { startPostgres } from '../support/stores/postgres.ts'

/** The first four rounds differ in their moment. */
const DATABASES = {
  SQLite: rounds(4),
  PostgreSQL: rounds(1),
}
const CONNECTIONS = 2
const PIPELINED = 6

after(async () => (await startPostgres()).stop())

for (const database of ['SQLite', 'PostgreSQL'] as const) {
  const count = DATABASES[database]
  test(`answers pipelined refreshes, or does not perform them, when SIGTERM arrives in between: ${database}`, async (t) => {
    const home = await preparedHomeOn(t, database)
    await fixPort(home)
    let service = await startChild(t, { home })
    let answered = 0
    for (let round = 0; round < count; round++) {
      const sent = await sendUntilStopped(service, round)
      service = await startChild(t, { home })
      for (const { token, answer } of sent) {
        if (answer === undefined) {
          // Without a response nothing has happened: the token is still valid.
          assert.equal((await refresh(service, token)).status, 200, `round ${round}: it was spent`)
        } else {
          answered += 1
          assert.equal((await refresh(service, answer)).status, 200)
        }
      }
    }
    assert.ok(answered >= count, `${answered} answers`)
    assert.equal((await service.stop()).code, 0)
  })
}

interface Sent {
  readonly token: string
  /** The refresh token in the response. */
  readonly answer: string | undefined
}

/** Several connections, each with pipelined refreshes; the signal comes when the first responses are being sent. */
async function sendUntilStopped(service: ChildService, round: number): Promise<readonly Sent[]> {
  const chains: OfflineTokens[][] = []
  for (let i = 0; i < CONNECTIONS; i++) {
    const tokens: OfflineTokens[] = []
    for (let k = 0; k < PIPELINED; k++) tokens.push(await logInOffline(service))
    chains.push(tokens)
  }
  const connections = await Promise.all(
    chains.map(async (tokens) => ({ tokens, connection: await connectRaw(service) })),
  )
  for (const { tokens, connection } of connections) {
    connection.send(tokens.map((one) => refreshRequest(service, one.refresh_token)).join(''))
  }
  // At another moment in each round: before, during, and after the first responses.
  const before = round % 4
  const [{ connection: watched } = { connection: undefined }] = connections
  const early: (RawReply | undefined)[] = []
  for (let i = 0; i < before; i++) early.push(await watched?.reply())
  service.process.kill('SIGTERM')
  const sent: Sent[] = []
  for (const { tokens, connection } of connections) {
    const replies: (RawReply | undefined)[] = connection === watched ? early : []
    while (replies.length < tokens.length) {
      const reply = await connection.reply()
      if (reply === undefined) break
      replies.push(reply)
    }
    connection.socket.destroy()
    for (const [i, { refresh_token: token }] of tokens.entries()) {
      const reply = replies[i]
      assert.ok(reply === undefined || reply.status === 200, reply?.text ?? '')
      sent.push({ token, answer: reply?.json().refresh_token })
    }
  }
  assert.equal((await service.finished).code, 0)
  return sent
}

function refreshRequest(service: ChildService, token: string): string {
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: token,
    client_id: 'service',
  }).toString()
  return [
    'POST /oidc/token HTTP/1.1',
    `Host: ${new URL(service.baseUrl).host}`,
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n')
}
