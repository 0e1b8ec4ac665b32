/**
 * The successor of an issuing CA, made while the service runs: D-48, D-129, R103. The service was installed nine years
 * ago by its own clock; that clock stays behind the real one, by which TLS clients judge what they are shown.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import https from 'node:https'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { days, milliseconds, minutes } from '../../../src/base/time/duration.ts'
import {
  certificateLogin,
  logInByCertificate,
  presenting,
  shows,
} from '../../support/certificates/certificate-login.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import { namedCas } from '../../support/certificates/named-cas.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { CLIENT, enrolledPerson, whoLogsIn } from '../../support/certificates/renewal.ts'
import { assertVerifies, blocksOf } from '../../support/certificates/session-certificates.ts'
import { TestClock } from '../../support/clocks/clock.ts'
import { pass, startRealEdge } from '../../support/edge/real-edge.ts'
import { eventually } from '../../support/eventually.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { sql } from '../../support/stores/sql.ts'

const openssl = await openOpenssl()
after(() => openssl.close())

/** By how much the clock of the service is behind: more than a test advances it, less than its tokens live. */
const BEHIND = minutes(25)
/** Of the nine years after which the issuing CA gets a successor. */
const LEFT = minutes(5)

const NINE_YEARS = days(9 * 365)

/** A clock that stood nine years back, and `goOn`, which brings it close to the moment when the successor is due. */
function oldClock() {
  const clock = new TestClock()
  const passed = milliseconds(NINE_YEARS - LEFT)
  clock.advance(milliseconds(-passed - BEHIND))
  return { clock, goOn: () => clock.advance(passed) }
}

const caFile = (service: Service) => readFile(join(service.home, 'pki', 'ca.pem'), 'utf8')

async function authorities(service: Service): Promise<readonly string[]> {
  const rows = await sql(service, 'select role, generation from authorities order by role')
  return rows.map((row) => `${row['role']}/${row['generation']}`).toSorted()
}

async function eventsOfAuthorities(service: Service): Promise<number> {
  const statement = "select count(*) as n from events where type = 'authority.created'"
  return Number((await sql(service, statement))[0]?.['n'])
}

/** The CA that signed an API session certificate which is issued now. */
async function issuerNow(service: Service): Promise<string> {
  const { access_token } = await logIn(service)
  const { pem } = await makeCsr()
  const reply = await service.call(`${CLIENT}/current-api-session/certificates`, {
    ...bearer(access_token),
    json: { csr: pem },
  })
  assert.equal(reply.status, 201, reply.text)
  const { certificate, cas } = reply.json().data
  await assertVerifies(certificate, cas)
  return blocksOf(certificate)[1] ?? ''
}

test('a running instance makes the successor of its issuing CA and goes on with both', async (t) => {
  const { clock, goOn } = oldClock()
  const first = await startService(t, { clock })
  const { home } = first
  await first.stop()
  goOn()
  const service = await startService(t, { clock, home })
  assert.deepEqual(await authorities(service), ['issuing/1', 'root/1'])
  assert.equal(await eventsOfAuthorities(service), 2)
  const admin = await administrate(service)
  const edge = await startRealEdge(t, service)
  const device = await enrolledPerson(service, admin, openssl, {
    life: { notBefore: days(-1), notAfter: days(30) },
  })
  const port = Number(new URL(service.baseUrl).port)
  const old = await issuerNow(service)
  assert.equal(service.ca, await caFile(service))

  clock.advance(minutes(6))
  const bundle = await eventually(async () => {
    const text = await caFile(service)
    return text === service.ca ? undefined : text
  }, 'the CA file with the successor')
  const successor = blocksOf(bundle).at(-1) ?? ''

  await t.test('it stands behind the others in the bundle, everywhere', async () => {
    assert.equal(bundle, service.ca + successor)
    assert.deepEqual(await authorities(service), ['issuing/1', 'issuing/2', 'root/1'])
    assert.equal(await eventsOfAuthorities(service), 3)
    const root = new X509Certificate(blocksOf(service.ca)[0] ?? '')
    assert.ok(new X509Certificate(successor).verify(root.publicKey))
    assert.ok(
      service.log.some(
        ({ msg, role }) => /created a CA of its own/.test(msg) && role === 'issuing',
      ),
    )
  })

  await t.test('handshakes name it too', async () => {
    const { subject = '' } = new X509Certificate(successor)
    await eventually(async () => {
      const names = await namedCas(port)
      return names.includes(subject) ? names : undefined
    }, 'the name of the successor in a handshake')
  })

  await t.test('it is published first, and signs ten minutes later', async () => {
    assert.equal(await issuerNow(service), old)
    clock.advance(minutes(11))
    assert.equal(await issuerNow(service), successor)
  })

  await t.test('a certificate from before logs in and passes a router', async () => {
    assert.equal(await whoLogsIn(service, device.certificate), device.identityId)
    const { access_token } = await logInByCertificate(presenting(service, device.certificate))
    const { pem, keyPem } = device.certificate
    const traveller = {
      shown: { cert: pem, key: keyPem },
      headers: { authorization: `Bearer ${access_token}` },
    }
    assert.equal((await pass(t, edge, traveller))?.status, 200)
  })

  await t.test(
    'one of the successor does so too, at a router that was connected all the time',
    async () => {
      const person = await enrolledPerson(service, admin, openssl, {
        life: { notBefore: days(-1), notAfter: days(30) },
      })
      const issued = new X509Certificate(person.certificate.pem)
      assert.ok(issued.verify(new X509Certificate(successor).publicKey))
      const { access_token } = await logInByCertificate(presenting(service, person.certificate))
      const { pem, keyPem } = person.certificate
      const traveller = {
        shown: { cert: pem, key: keyPem },
        headers: { authorization: `Bearer ${access_token}` },
      }
      const answer = await eventually(async () => {
        const answer = await pass(t, edge, traveller)
        return answer?.status === 200 ? answer : undefined
      }, 'the router knows the successor')
      assert.equal(answer.status, 200)
    },
  )

  await t.test(
    'the server certificate changes to it, and clients of the old bundle believe it',
    async () => {
      await service.instance.renewCertificates()
      const served = await readFile(join(home, 'pki', 'server.pem'), 'utf8')
      assert.equal(blocksOf(served)[1], successor)
      const reply = await service.call('/version')
      assert.equal(reply.status, 200, 'the client still trusts what it was given at first')
    },
  )
})

test('when the old issuing CA ends, so does the trust in what it signed', async (t) => {
  const { clock, goOn } = oldClock()
  const first = await startService(t, { clock })
  const { home } = first
  await first.stop()
  goOn()
  const service = await startService(t, { clock, home })
  const admin = await administrate(service)
  const device = await enrolledPerson(service, admin, openssl, {
    life: { notBefore: days(-1), notAfter: days(900) },
  })
  assert.equal(await whoLogsIn(service, device.certificate), device.identityId)
  clock.advance(minutes(6))
  await eventually(
    async () => ((await caFile(service)) === service.ca ? undefined : true),
    'the successor',
  )
  // A year on, by the clock of the service: the leaf says that it is in date, its CA is not.
  clock.advance(days(365))
  await eventually(
    async () => (blocksOf(await caFile(service)).length === 2 ? true : undefined),
    'the bundle without the old one',
  )
  // Its own certificate is of that year too, for which a TLS client of today would not accept it.
  await service.instance.renewCertificates()
  const agent = new https.Agent({ ...shows(device.certificate), rejectUnauthorized: false })
  const refused = await certificateLogin({
    baseUrl: service.baseUrl,
    call: (path, options) => service.call(path, { ...options, agent }),
  })
  assertRefused(refused, 401, 'INVALID_AUTH')
})

test('two instances make one successor, and each takes it over without a restart', async (t) => {
  const db = await migratedDatabase()
  const shared = await installation(db)
  const { clock, goOn } = oldClock()
  const first = await shared.start(t, { clock })
  await first.stop()
  goOn()
  const [a, b] = await Promise.all([shared.start(t, { clock }), shared.start(t, { clock })])
  assert.equal(a.ca, b.ca)
  clock.advance(minutes(6))
  const [one, other] = await Promise.all(
    [a, b].map((service) =>
      eventually(async () => {
        const text = await caFile(service)
        return text === service.ca ? undefined : text
      }, 'the CA file with the successor'),
    ),
  )
  assert.equal(one, other)
  assert.equal(blocksOf(one ?? '').length, 3)
  assert.deepEqual(await authorities(a), ['issuing/1', 'issuing/2', 'root/1'])
  assert.equal(await eventsOfAuthorities(a), 3)
  clock.advance(minutes(11))
  const [byOne, byOther] = [await issuerNow(a), await issuerNow(b)]
  assert.equal(byOne, byOther)
  assert.equal(byOne, blocksOf(one ?? '')[2])
})
