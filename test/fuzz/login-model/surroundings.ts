/**
 * Who and what there is in the world of the model: two identities with a password each and a policy each, an IdP whose
 * tokens count, and what every world shares because it takes long to make.
 */
import { createHash } from 'node:crypto'
import { importPKCS8, SignJWT } from 'jose'
import type { AuthenticatorId, ExternalJwtSignerId, IdentityId } from '../../../src/base/ids.ts'
import type { Random } from '../../../src/base/secrets/random.ts'
import { Secret } from '../../../src/base/secrets/secret.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../../src/base/secrets/vault.ts'
import { days } from '../../../src/base/time/duration.ts'
import { epochSeconds, plus } from '../../../src/base/time/instant.ts'
import type { Config } from '../../../src/config/config.ts'
import {
  type CertificateAuthorities,
  loadAuthorities,
} from '../../../src/domain/certificates/own/authorities.ts'
import type { ExternalJwtSigner } from '../../../src/domain/ext-jwt/signer.ts'
import type { PasswordHashing } from '../../../src/domain/factors/passwords/hashing.ts'
import type { AuthPolicy } from '../../../src/domain/policies/auth-policy.ts'
import type { Store } from '../../../src/domain/stores.ts'
import { openStore } from '../../../src/store/open.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { ManualClock, NOON } from '../../support/clocks/manual-clock.ts'
import { externalSigner } from '../../support/idp/external-idp.ts'
import { anIdentity, aPolicy } from '../../support/people.ts'

export const NAMES = ['alice', 'bob'] as const
export type Name = (typeof NAMES)[number]

/** What a policy says in the model. */
export interface Demanded {
  readonly password: boolean
  readonly totp: boolean
  readonly jwt: boolean
}

/** The policy that everybody has at first. */
export const AT_FIRST: Demanded = { password: true, totp: true, jwt: false }

/** What every world shares, because it takes long to make: certificates and the tokens of an IdP. */
export interface Surroundings {
  readonly config: Config
  readonly authorities: CertificateAuthorities
  readonly signer: ExternalJwtSigner
  readonly jwts: Readonly<Record<Name | 'forged', string>>
}

export const passwordOf = (name: Name) => `the password of ${name}`

export const identityId = (name: Name) => `identity-of-${name}` as IdentityId
const externalId = (name: Name) => `${name}@example.org`
export const nameOf = (id: string) => NAMES.find((name) => identityId(name) === id) ?? 'alice'

export async function makeSurroundings(config: Config): Promise<Surroundings> {
  const openssl = await openOpenssl()
  const lives = { notAfter: days(20 * 365) }
  const [idp, stranger] = await Promise.all([openssl.makeCa(lives), openssl.makeCa(lives)])
  await openssl.close()
  const signer = externalSigner({
    id: 'signer-1' as ExternalJwtSignerId,
    keys: { kind: 'certificate', certPem: idp.pem, kid: undefined },
    claimsProperty: '/sub',
    useExternalId: true,
  })
  const jwt = async (name: Name, { keyPem }: { readonly keyPem: string }) =>
    new SignJWT({})
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(signer.issuer)
      .setAudience(signer.audience)
      .setSubject(externalId(name))
      .setExpirationTime(epochSeconds(plus(NOON, days(365))))
      .sign(await importPKCS8(keyPem, 'ES256'))
  const [alice, bob, forged] = await Promise.all([
    jwt('alice', idp),
    jwt('bob', idp),
    jwt('alice', stranger),
  ])

  const random = repeatableRandom()
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  const authorities = await loadAuthorities({
    authorities: store.authorities,
    vault: createVault(random.bytes(INSTALLATION_SECRET_BYTES), random),
    random,
    clock: new ManualClock(),
  })
  await store.close()
  return { config, authorities, signer, jwts: { alice, bob, forged } }
}

export const FREE_HASHING: PasswordHashing = {
  hash: async (password) => `free:${password.reveal()}`,
  verify: async (hash, password) => hash === `free:${password.reveal()}`,
  verifyNothing: async () => {},
  isWeak: () => false,
}

/** The same in every run, so that a run that failed fails again. */
export function repeatableRandom(): Random {
  let drawn = 0
  return {
    bytes(count) {
      const blocks: Buffer[] = []
      for (let have = 0; have < count; have += 32) {
        drawn += 1
        blocks.push(createHash('sha256').update(`draw ${drawn}`).digest())
      }
      return new Uint8Array(Buffer.concat(blocks).subarray(0, count))
    },
  }
}

export function policyOf(
  name: Name,
  demanded: Demanded = AT_FIRST,
  signerId?: ExternalJwtSignerId,
): AuthPolicy {
  const policy = aPolicy({
    id: `policy-of-${name}`,
    // D-22 has its own tests; here nobody is locked out.
    updb: { allowed: demanded.password, maxAttempts: 0 },
    secondary: {
      requireTotp: demanded.totp,
      requireExtJwt: demanded.jwt ? signerId : undefined,
    },
  })
  return { ...policy, name: policy.id }
}

export async function fill(
  store: Store,
  signer: ExternalJwtSigner,
  policies: readonly AuthPolicy[],
): Promise<void> {
  await store.externalJwtSigners.insert(signer)
  for (const policy of policies) await store.authPolicies.insert(policy)
  for (const name of NAMES) {
    const authPolicyId = policyOf(name).id
    const id = identityId(name)
    const identity = anIdentity({ id, name, externalId: externalId(name), authPolicyId })
    await store.identities.insert(identity)
    await store.authenticators.insert({
      id: `authenticator-of-${name}` as AuthenticatorId,
      identityId: id,
      method: 'updb',
      username: name,
      passwordHash: await FREE_HASHING.hash(new Secret(passwordOf(name))),
      lockedUntil: undefined,
      tags: {},
      createdAt: NOON,
      updatedAt: NOON,
    })
  }
}
