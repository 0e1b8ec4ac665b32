/**
 * Who can log in at a fake server. They are made as an administrator would make them, over the management API with
 * `latchkey/client`; nothing bypasses the service.
 */
import type { Client, Session } from '../client/client.ts'

export interface Credentials {
  readonly username: string
  readonly password: string
}

export interface Seeded {
  readonly policyId: string
  readonly signer: { readonly id: string; readonly issuer: string }
}

type Fields = Readonly<Record<string, unknown>>

/** The signer of the JWT challenges. Nothing is fetched from it, and none of its tokens exists. */
const ISSUER = 'https://idp.example'

/** Alice has a policy of her own, so that a scenario can change it. */
export async function seedPeople(
  client: Pick<Client, 'logIn'>,
  admin: Credentials,
  alice: Credentials,
): Promise<Seeded> {
  const session = await client.logIn({ method: 'password', ...admin })
  try {
    const primary = {
      updb: { allowed: true },
      cert: { allowed: true },
      extJwt: { allowed: true },
    }
    const policyId = await create(session, '/auth-policies', { name: 'of alice', primary })
    const identityId = await create(session, '/identities', {
      name: alice.username,
      type: 'Default',
      isAdmin: false,
      authPolicyId: policyId,
    })
    await create(session, '/authenticators', { method: 'updb', identityId, ...alice })
    const id = await create(session, '/external-jwt-signers', {
      name: 'idp.example',
      issuer: ISSUER,
      jwksEndpoint: `${ISSUER}/keys`,
      audience: 'fake-server',
    })
    return { policyId, signer: { id, issuer: ISSUER } }
  } finally {
    await session.logout()
  }
}

/** From now on, alice needs a TOTP code. */
export async function demandTotp(
  client: Pick<Client, 'logIn'>,
  admin: Credentials,
  policyId: string,
): Promise<void> {
  const session = await client.logIn({ method: 'password', ...admin })
  try {
    const path = `/edge/management/v1/auth-policies/${policyId}`
    const json = { secondary: { requireTotp: true } }
    const response = await session.call(path, { method: 'PATCH', json })
    if (!response.ok) throw new Error(`${path} answers ${response.status}`)
  } finally {
    await session.logout()
  }
}

async function create(session: Pick<Session, 'call'>, path: string, json: Fields): Promise<string> {
  const response = await session.call(`/edge/management/v1${path}`, { json })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answers ${response.status}: ${text}`)
  return (JSON.parse(text) as { readonly data: { readonly id: string } }).data.id
}
