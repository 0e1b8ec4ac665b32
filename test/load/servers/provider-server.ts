/**
 * The other server of the bench, as a process of its own: node-oidc-provider over HTTPS with its in-memory adapter, one
 * public client, refresh tokens that rotate, JWT access tokens and ID tokens with ES256. Gets its settings as JSON in
 * the only argument; prints refresh tokens as JSON once it listens.
 */
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:https'
import { Provider } from 'oidc-provider'

export interface ProviderSettings {
  readonly port: number
  readonly keyPem: string
  readonly certPem: string
  /** How many refresh tokens it begins with. */
  readonly sessions: number
}

const CLIENT = 'service'
const SCOPE = 'openid offline_access'
const RESOURCE = 'urn:api'
const LIFE_SECONDS = 1800
const DAY_SECONDS = 86_400

const settings: ProviderSettings = JSON.parse(process.argv[2] ?? '{}')
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwk = { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'bench' }
const resource = {
  scope: SCOPE,
  audience: CLIENT,
  accessTokenFormat: 'jwt',
  accessTokenTTL: LIFE_SECONDS,
  jwt: { sign: { alg: 'ES256' } },
}
const provider = new Provider(`https://localhost:${settings.port}`, {
  jwks: { keys: [jwk] },
  clients: [
    {
      client_id: CLIENT,
      token_endpoint_auth_method: 'none',
      redirect_uris: ['http://localhost:8123/callback'],
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      id_token_signed_response_alg: 'ES256',
    },
  ],
  scopes: ['openid', 'offline_access'],
  rotateRefreshToken: true,
  issueRefreshToken: () => true,
  features: {
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => RESOURCE,
      useGrantedResource: () => true,
      getResourceServerInfo: () => resource,
    },
  },
  ttl: {
    RefreshToken: DAY_SECONDS,
    Grant: DAY_SECONDS,
    AccessToken: LIFE_SECONDS,
    IdToken: LIFE_SECONDS,
    Session: DAY_SECONDS,
  },
  findAccount: (_context: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub }) }),
  cookies: { keys: ['bench'] },
})

const client = await provider.Client.find(CLIENT)
const tokens: string[] = []
for (let i = 0; i < settings.sessions; i++) {
  const accountId = `account-${i}`
  const grant = new provider.Grant({ accountId, clientId: CLIENT })
  grant.addOIDCScope(SCOPE)
  grant.addResourceScope(RESOURCE, SCOPE)
  const now = Math.floor(Date.now() / 1000)
  const token = new provider.RefreshToken({
    accountId,
    client,
    clientId: CLIENT,
    grantId: await grant.save(),
    gty: 'authorization_code',
    scope: SCOPE,
    resource: RESOURCE,
    authTime: now,
    rotations: 0,
    iiat: now,
    expiresWithSession: false,
  })
  tokens.push(await token.save())
}
const { keyPem, certPem } = settings
createServer({ key: keyPem, cert: certPem }, provider.callback()).listen(
  settings.port,
  '127.0.0.1',
  () => console.log(JSON.stringify(tokens)),
)
