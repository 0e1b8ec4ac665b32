/**
 * The JWT that a gateway gives to the service behind a proxy: who its user is, for one application and one minute. D-414.
 * Signed with a key of this gateway, which is new at every start and published; it is not an access token, and the
 * controller does not know it.
 */
import { generateKeyPairSync } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, type JWK, SignJWT } from 'jose'
import { base64url } from '../../base/encoding.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { epochSeconds } from '../../base/time/instant.ts'
import type { Accepted } from '../../router/router.ts'
import type { BrowserSession } from '../browser/sessions.ts'

const IDENTITY_JWT_TYP = 'latchkey-identity+jwt'

const LIFE_SECONDS = 60
/** One JWT serves all requests of a page. */
const REUSED_SECONDS = 20

const ALGORITHM = 'ES256'

export interface IdentityJwts {
  sign(
    session: BrowserSession,
    accepted: Accepted,
    roles: readonly string[] | undefined,
  ): Promise<string>
  readonly keys: readonly JWK[]
}

export async function createIdentityJwts(deps: {
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
}): Promise<IdentityJwts> {
  const { clock, random } = deps
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  const signed = new WeakMap<
    BrowserSession,
    { readonly at: number; readonly about: string; readonly jwt: string }
  >()

  return {
    keys: [{ ...jwk, kid, alg: ALGORITHM, use: 'sig' }],

    async sign(session, { identityId, sessionId }, roles) {
      const now = epochSeconds(clock.now())
      const { amr, auth_time, name, preferred_username } = session.session.claims()
      const claims = { sid: sessionId, roles, amr, auth_time, name, preferred_username }
      const about = JSON.stringify(claims)
      const before = signed.get(session)
      if (before?.about === about && now - before.at < REUSED_SECONDS) return before.jwt
      const jwt = await new SignJWT(claims)
        .setProtectedHeader({ alg: ALGORITHM, typ: IDENTITY_JWT_TYP, kid })
        .setIssuer(`${session.origin}/.latchkey`)
        .setAudience(session.origin)
        .setSubject(identityId)
        .setJti(base64url(random.bytes(16)))
        .setIssuedAt(now)
        .setExpirationTime(now + LIFE_SECONDS)
        .sign(privateKey)
      signed.set(session, { at: now, about, jwt })
      return jwt
    },
  }
}
