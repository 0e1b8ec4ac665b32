/**
 * Many administrators and many logins at the same moment, with names that collide on purpose: every call gets what it
 * would get alone, nothing is lost, and nothing fails that is not refused. API 1, 3.3; D-22, R109. On SQLite, and at two
 * instances on a database that really does things at once.
 */
import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { type TestContext, test } from 'node:test'
import { decodeJwt } from 'jose'
import { chance } from '../../support/chance/chance.ts'
import { onceReady, type Reply } from '../../support/http-client.ts'
import { logIn } from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { sql } from '../../support/stores/sql.ts'

const NAMES = 200
/** How often each name is asked for. */
const TIMES = 2
const CALLERS = 16
const LOGINS = 16

const INSTANCES: Readonly<Record<string, (t: TestContext) => Promise<readonly Service[]>>> = {
  'one instance on SQLite': async (t) => [await startService(t)],
  'two instances on PostgreSQL': async (t) => {
    const shared = await installation(await migratedDatabase())
    return [await shared.start(t), await shared.start(t)]
  },
}

for (const [where, start] of Object.entries(INSTANCES)) {
  test(`${NAMES} identities made by ${CALLERS} at once while ${LOGINS} log in are all there, at ${where}`, async (t) => {
    const services = (await start(t)).map((service) => keptOpen(t, service))
    const [first] = services
    assert.ok(first)
    const { token } = await administrate(first)
    const names = shuffled(
      Array.from({ length: NAMES * TIMES }, (_, i) => `person ${i % NAMES}`),
      NAMES,
    )

    const answers = new Map<string, Reply[]>()
    const make = async (service: Service) => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        const enrollment = name.endsWith('0') ? { ott: true } : undefined
        const reply = await service.call('/edge/management/v1/identities', {
          headers: { authorization: `Bearer ${token}` },
          json: { name, type: 'Default', isAdmin: false, tags: { name }, enrollment },
        })
        answers.set(name, [...(answers.get(name) ?? []), reply])
      }
    }
    const sessions: string[] = []
    const logInAgain = async (service: Service) => {
      do {
        const { access_token } = await logIn(service)
        sessions.push(String(decodeJwt(access_token)['z_asid']))
      } while (names.length > 0)
    }
    await Promise.all([...spread(services, CALLERS, make), ...spread(services, LOGINS, logInAgain)])

    const made = new Map<string, string>()
    for (const [name, replies] of answers) {
      assert.equal(replies.length, TIMES)
      const [taken, ...more] = replies.filter(({ status }) => status === 201)
      assert.ok(taken, replies.map(({ text }) => text).join())
      assert.deepEqual(more, [], 'a name is given once')
      made.set(taken.json().data.id, name)
      for (const refused of replies.filter((reply) => reply !== taken)) {
        assertRefused(refused, 409, 'ENTITY_NAME_IN_USE', 'name')
      }
    }
    assert.equal(made.size, NAMES)
    for (const service of services) {
      const listed = await listedIdentities(service, token)
      assert.deepEqual(listed, new Map([...made].toSorted()))
    }

    const ids = async (statement: string) =>
      (await sql(first, statement)).map(({ id }) => String(id)).toSorted()
    const created = `select identity_id as id from events where type = 'identity.created'
      and actor_id is not null`
    assert.deepEqual(await ids(created), [...made.keys()].toSorted(), 'one event each')
    const invited = [...made].filter(([, name]) => name.endsWith('0')).map(([id]) => id)
    assert.deepEqual(await ids('select identity_id as id from enrollments'), invited.toSorted())
    const begun = await ids('select id from api_sessions')
    assert.equal(begun.length, sessions.length + 1, 'and the administrator')
    for (const id of sessions) assert.ok(begun.includes(id), 'no session is lost')
    const issued = await ids("select session_id as id from events where type = 'token.issued'")
    assert.deepEqual(issued, begun)

    for (const { log } of services) {
      const failed = log.filter(({ status, level }) => status >= 500 || level >= 50)
      assert.deepEqual(
        failed.filter(({ status }) => status !== 503),
        [],
      )
    }
  })
}

/**
 * The same service, over connections that are kept open: a handshake for each call would be most of the work. A call that
 * is answered with 503 is repeated.
 */
function keptOpen(t: TestContext, service: Service): Service {
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const call: Service['call'] = (path, options) =>
    onceReady(() => service.call(path, { agent, ...options }))
  return { ...service, call }
}

function spread(
  services: readonly Service[],
  times: number,
  work: (service: Service) => Promise<void>,
): Promise<void>[] {
  return Array.from({ length: times }, (_, i) => {
    const service = services[i % services.length]
    assert.ok(service)
    return work(service)
  })
}

/** So that equal names meet at different times, a moment apart or long. */
function shuffled(names: string[], seed: number): string[] {
  const { below } = chance(seed)
  const keyed = names.map((name) => ({ name, key: below(2 ** 32) }))
  return keyed.toSorted((a, b) => a.key - b.key).map(({ name }) => name)
}

/** By id, without the first administrator; the list counts what it lists. */
async function listedIdentities(service: Service, token: string): Promise<Map<string, string>> {
  const path = '/edge/management/v1/identities?limit=500&sort=id'
  const reply = await service.call(path, { headers: { authorization: `Bearer ${token}` } })
  assert.equal(reply.status, 200, reply.text)
  const { data, meta } = reply.json()
  assert.equal(meta.pagination.totalCount, data.length)
  const others = data.filter(({ name }: { name: string }) => name !== 'admin')
  return new Map(
    others.map(({ id, tags }: { id: string; tags: { name: string } }) => [id, tags.name]),
  )
}
