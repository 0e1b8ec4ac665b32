/**
 * TLS to PostgreSQL is what the URL says: `sslmode=verify-full` with `sslrootcert` takes the right server and
 * no other. Needs a server whose files it may write, so it has one of its own.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after as afterAll, test } from 'node:test'
import { Client } from 'pg'
import { systemRandom } from '../../src/base/secrets/random.ts'
import { Secret } from '../../src/base/secrets/secret.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import { days } from '../../src/base/time/duration.ts'
import { plus } from '../../src/base/time/instant.ts'
import { newKeyPair, signCertificate } from '../../src/domain/certificates/write-certificate.ts'
import { openStore, StoreUnavailable } from '../../src/store/open.ts'
import { eventually } from '../support/eventually.ts'
import { startOwnPostgres } from '../support/stores/postgres.ts'

const postgres = await startOwnPostgres()
afterAll(() => postgres.stop())

test('the certificate of the server is checked against the root that the URL names', async (t) => {
  const url = await postgres.freshDatabase()
  const server = await selfSigned()
  await useCertificate(url, server)

  const folder = await mkdtemp(join(tmpdir(), 'latchkey-tls-'))
  t.after(() => rm(folder, { recursive: true }))
  const open = async (root: string) => {
    const file = join(folder, 'root.pem')
    await writeFile(file, root)
    const secured = `${url}?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`
    return openStore({ kind: 'postgres', url: new Secret(secured) })
  }

  const store = await open(server.certificate)
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(`
    select ssl from pg_stat_ssl join pg_stat_activity using (pid)
    where application_name = 'latchkey'`)
  await client.end()
  await store.close()
  assert.deepEqual(rows, [{ ssl: true }])

  // Attack: somebody answers in the place of the database.
  const { certificate } = await selfSigned()
  await assert.rejects(open(certificate), (error) => {
    assert.ok(error instanceof StoreUnavailable)
    assert.match(error.message, /self-signed certificate/)
    return true
  })
})

interface ServerIdentity {
  readonly certificate: string
  readonly key: string
}

async function selfSigned(): Promise<ServerIdentity> {
  const { publicKey, privateKey } = await newKeyPair()
  const now = systemClock.now()
  const certificate = signCertificate(
    {
      commonName: 'database',
      publicKey,
      notBefore: now,
      notAfter: plus(now, days(1)),
      profile: { kind: 'server', names: [{ type: 'ip', value: '127.0.0.1' }] },
    },
    { privateKey },
    systemRandom,
  )
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  return { certificate: certificate.toString(), key: key.toString() }
}

/** The server writes its files itself: only it may read its key. */
async function useCertificate(url: string, { certificate, key }: ServerIdentity): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  for (const [name, pem] of Object.entries({ 'server.crt': certificate, 'server.key': key })) {
    const lines = `select unnest(string_to_array('${pem}', E'\\n'))`
    await client.query(`copy (${lines}) to program 'umask 077; cat > ${name}'`)
  }
  await client.query('alter system set ssl = on')
  await client.query('select pg_reload_conf()')
  await client.end()
  await eventually(async () => (await answersTls(url)) || undefined, 'TLS at the server')
}

async function answersTls(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, ssl: { rejectUnauthorized: false } })
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end()
  }
}
