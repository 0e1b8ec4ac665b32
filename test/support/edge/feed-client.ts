/**
 * An edge router as far as the controller sees one: an identity of type Router with an enrolled certificate, and a plain
 * reader of the feed that believes nothing and remembers every line. docs/router.md has the format.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import type { TestContext } from 'node:test'
import { hours } from '../../../src/base/time/duration.ts'
import { registerCa, shows } from '../certificates/certificate-login.ts'
import { type MadeCertificate, type Openssl, openOpenssl } from '../certificates/openssl.ts'
import { eventually } from '../eventually.ts'
import { CLIENT_API } from '../login/legacy.ts'
import type { Administrator } from '../management.ts'
import type { Service } from '../service.ts'
import { sql } from '../stores/sql.ts'

export interface EnrolledRouter {
  readonly identityId: string
  readonly authenticatorId: string
  readonly certificate: MadeCertificate
}

/** Enrols a router, or somebody of another type, with a certificate of a CA that is registered for it. */
export async function enrollRouter(
  t: TestContext,
  admin: Administrator,
  fields: Readonly<Record<string, unknown>> = { type: 'Router' },
): Promise<EnrolledRouter> {
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa()
  await registerCa(admin, openssl, ca)
  return enroll(admin, openssl, ca, fields)
}

export async function enroll(
  admin: Administrator,
  openssl: Openssl,
  ca: MadeCertificate,
  fields: Readonly<Record<string, unknown>>,
): Promise<EnrolledRouter> {
  const certificate = await openssl.makeLeaf(ca, { subject: '/CN=router' })
  const { id } = await admin.createIdentity({ certPem: certificate.pem, ...fields })
  const [authenticator] = await admin.get(`/identities/${id}/authenticators`)
  return { identityId: id, authenticatorId: authenticator.id, certificate }
}

// biome-ignore lint/suspicious/noExplicitAny: a line has the members of its type
export type Line = any

export interface FeedClient {
  readonly response: IncomingMessage
  /** Every line so far. */
  readonly lines: readonly Line[]
  /** The first line that fits, among those that came and those that come. */
  line(fits: (line: Line) => boolean, what: string): Promise<Line>
  /** The line that says that this has ended. */
  ended(subject: string): Promise<Line>
  /** The subjects of all ended lines so far. */
  subjects(): readonly string[]
  /** The newest cursor. */
  cursor(): string
  /** How it ended: `finished` in good order, `cut` in the middle. */
  readonly closed: Promise<'finished' | 'cut'>
  destroy(): void
}

/** Where an instance listens, whatever address it is known by. */
function portOf({ config, baseUrl }: Pick<Service, 'config' | 'baseUrl'>): number {
  return config.listeners[0].bindPoints[0].interface.port || Number(new URL(baseUrl).port)
}

/** Follows the feed; destroyed with the test. */
export async function openFeed(
  t: TestContext,
  service: Pick<Service, 'config' | 'baseUrl' | 'ca'>,
  { certificate }: Pick<EnrolledRouter, 'certificate'>,
  since?: string,
  /** The name of a program that confirms. */
  run?: string,
): Promise<FeedClient> {
  const given = Object.entries({ since, confirms: run }).filter(([, value]) => value !== undefined)
  const query = given.length === 0 ? '' : `?${new URLSearchParams(given as [string, string][])}`
  return openFeedAt(t, portOf(service), service.ca, certificate, query)
}

export async function openFeedAt(
  t: TestContext,
  port: number,
  ca: string,
  certificate: MadeCertificate,
  query = '',
): Promise<FeedClient> {
  const path = `${CLIENT_API}/router-feed${query}`
  const request = https.get({
    host: 'localhost',
    port,
    path,
    ca,
    agent: false,
    ...shows(certificate),
  })
  t.after(() => request.destroy())
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const lines: Line[] = []
  let rest = ''
  response.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts.map((part) => JSON.parse(part)))
  })
  const closed = new Promise<'finished' | 'cut'>((resolve) => {
    response.once('end', () => resolve('finished'))
    response.once('error', () => resolve('cut'))
    response.once('close', () => resolve('cut'))
  })
  request.on('error', () => undefined)
  const line: FeedClient['line'] = (fits, what) => eventually(() => lines.find(fits), what)
  return {
    response,
    lines,
    line,
    ended: (subject) =>
      line(
        (one) => one.type === 'ended' && one.subject === subject,
        `the end of ${subject.slice(0, 40)}`,
      ),
    subjects: () => lines.filter(({ type }) => type === 'ended').map(({ subject }) => subject),
    cursor() {
      const found = lines.findLast(({ cursor }) => cursor !== undefined)
      assert.ok(found, 'no cursor yet')
      return found.cursor
    },
    closed,
    destroy: () => request.destroy(),
  }
}

/** A feed that has said `ready`. */
export async function readyFeed(
  ...args: Parameters<typeof openFeed>
): Promise<FeedClient & { readonly hello: Line }> {
  const feed = await openFeed(...args)
  assert.equal(feed.response.statusCode, 200)
  await feed.line(({ type }) => type === 'ready', 'ready')
  return { ...feed, hello: feed.lines[0] }
}

/** Ends that nobody made, past the service: so many megabytes of them. */
export async function endMany(
  service: Pick<Service, 'clock' | 'config'>,
  prefix: string,
  megabytes: number,
): Promise<string> {
  const last = service.clock.now() + hours(1)
  await sql(
    service,
    `with recursive count(n) as (select 1 union all select n + 1 from count where n < ${megabytes * 100})
     insert into session_endings (subject, at, keep_until)
     select '${prefix}-' || n || '-${'x'.repeat(10_000)}', 0, ${last} from count`,
  )
  return `${prefix}-${megabytes * 100}-${'x'.repeat(10_000)}`
}
