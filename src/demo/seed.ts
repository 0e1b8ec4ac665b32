/**
 * Creates the users of the demo as an administrator would: over the management API with `latchkey/client`, and what
 * only users can do with their own logins. Nothing bypasses the service (D-169).
 */
import { fromBase32 } from '../base/base32.ts'
import type { Clock } from '../base/time/clock.ts'
import { connect, enroll, type Session } from '../client/client.ts'
import { totpCode, totpStep } from '../protocol/totp.ts'
import type { DemoFolder } from './folder.ts'
import { type Passwords, WITH_PASSWORD, type WithPassword } from './people.ts'

export interface Place {
  readonly url: string
  /** PEM. */
  readonly ca: string
}

export interface Seeded {
  /** The `otpauth://` URL of tina's authenticator app. */
  readonly totp: { readonly provisioningUrl: string; readonly secret: Uint8Array }
  /** The identity of the gateway. */
  readonly router: Certified
}

/** A certificate of the service's own PKI, in PEM. */
export interface Certified {
  readonly id: string
  readonly cert: string
  readonly key: string
  readonly ca: string
}

/** The service's client id at the IdP. */
export const CLIENT_ID = 'latchkey-demo'

/** The name of the gateway, for `latchkey connect`. */
export const GATEWAY = 'gateway'

/** Shown on the login page: "Continue with …". */
const IDP_NAME = 'the demo IdP'

type Fields = Readonly<Record<string, unknown>>

export async function seed(
  place: Place,
  deps: {
    readonly passwords: Passwords
    /** The issuer of the IdP. */
    readonly issuer: string
    readonly folder: Pick<DemoFolder, 'write'>
    readonly clock: Pick<Clock, 'now'>
  },
): Promise<Seeded> {
  const { passwords, folder } = deps
  const client = await connect(place)
  const logIn = (username: WithPassword) =>
    client.logIn({ method: 'password', username, password: passwords[username] })
  try {
    const admin = await logIn('admin')
    const make = creating(admin)
    const signer = await make.signer(deps.issuer)
    const people = {
      paula: {},
      tina: {},
      tom: { authPolicyId: await make.policy('password-and-totp', { requireTotp: true }) },
      dora: {
        authPolicyId: await make.policy('password-and-idp', { requireExtJwt: signer }),
        externalId: 'dora',
      },
    }
    for (const [name, fields] of Object.entries(people)) {
      const { id: identityId } = await make.identity(name, fields)
      const password = passwords[name as keyof typeof people]
      await make.entity('/authenticators', {
        method: 'updb',
        identityId,
        username: name,
        password,
      })
    }
    for (const name of WITH_PASSWORD) await folder.write(`${name}.password`, `${passwords[name]}\n`)
    await make.identity('emil', { externalId: 'emil' })

    const carl = await enrolled(await make.invited('carl'), place)
    await folder.write('carl.pem', carl.cert)
    await folder.write('carl.key', carl.key)
    await folder.write('nora.jwt', `${await make.invited('nora')}\n`)
    const router = await enrolled(
      await make.invited(GATEWAY, { type: 'Router', hosts: ['localhost'] }),
      place,
    )

    const tina = await logIn('tina')
    const totp = await setUpApp(tina, deps.clock)
    await Promise.all([admin.logout(), tina.logout()])
    return { totp, router }
  } finally {
    client.close()
  }
}

function creating(admin: Pick<Session, 'call'>) {
  const entity = (path: string, json: Fields) => posted(admin, `/edge/management/v1${path}`, json)
  const identity = (name: string, fields: Fields) =>
    entity('/identities', { name, type: 'Default', isAdmin: false, ...fields })
  return {
    entity,
    identity,
    /** Creates an invitation for a certificate; returns its JWT. */
    async invited(name: string, fields: Fields = {}): Promise<string> {
      const { enrollment } = await identity(name, { ...fields, enrollment: { ott: true } })
      return (enrollment as { readonly jwt: string }).jwt
    },
    /** Creates a policy for users with a password; returns its id. */
    async policy(name: string, secondary: Fields): Promise<string> {
      const primary = { updb: { allowed: true } }
      return idOf(await entity('/auth-policies', { name, primary, secondary }))
    },
    /** Returns the id. */
    async signer(issuer: string): Promise<string> {
      const made = await entity('/external-jwt-signers', {
        name: IDP_NAME,
        issuer,
        jwksEndpoint: `${issuer}/keys`,
        externalAuthUrl: issuer,
        clientId: CLIENT_ID,
        audience: CLIENT_ID,
        targetToken: 'ID',
      })
      return idOf(made)
    },
  }
}

const idOf = ({ id }: Fields) => String(id)

async function enrolled(jwt: string, { ca }: Place): Promise<Certified> {
  const got = await enroll(jwt, { ca })
  const { credential } = got
  if (credential.method !== 'cert') throw new Error('the invitation is not one to a certificate')
  return { id: got.identityId, cert: credential.cert, key: credential.key, ca: got.ca }
}

async function setUpApp(
  session: Pick<Session, 'call'>,
  clock: Pick<Clock, 'now'>,
): Promise<Seeded['totp']> {
  const path = '/edge/client/v1/current-identity/mfa'
  const { provisioningUrl } = await posted(session, path, {})
  const url = new URL(String(provisioningUrl))
  const secret = fromBase32(url.searchParams.get('secret') ?? '')
  if (secret === undefined) throw new Error('the secret of the authenticator app cannot be read')
  await posted(session, `${path}/verify`, { code: totpCode(secret, totpStep(clock.now())) })
  return { provisioningUrl: url.href, secret }
}

/** Returns the `data` of the response. We have just started the service, so a refusal is a bug. */
async function posted(session: Pick<Session, 'call'>, path: string, json: Fields): Promise<Fields> {
  const response = await session.call(path, { json })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answers ${response.status}: ${text}`)
  return (JSON.parse(text) as { readonly data: Fields }).data
}
