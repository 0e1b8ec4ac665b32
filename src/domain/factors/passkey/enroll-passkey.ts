/**
 * Adds a passkey to an identity, in a login or in a session: D-430, D-435, D-437. Nothing is pending: the challenge says
 * all that is needed to finish, and is spent with it.
 */
import { type AuthenticatorId, newId } from '../../../base/ids.ts'
import { isJsonObject, parseJson } from '../../../base/json.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { freshRecoveryCodes } from '../recovery-codes.ts'
import type { FactorEnrollment } from '../second-factor.ts'
import type { SecondFactorStores } from '../stores.ts'
import { newChallenge, openChallenge, randomOf } from './challenge.ts'
import { type CreationOptions, creationOptions } from './options.ts'
import { LONGEST_PASSKEY_NAME, MOST_PASSKEYS, type Passkey } from './passkey.ts'
import { readAttestation } from './response.ts'
import { verifyAttestation } from './verify.ts'

export interface PasskeySetup {
  /** For `navigator.credentials.create()`. */
  readonly publicKey: CreationOptions
}

const DEEPEST = 7

export const passkeyEnrollment: FactorEnrollment<PasskeySetup> = {
  /** Throws PASSKEYS_UNAVAILABLE, MAX_PASSKEYS_REACHED. */
  async start(ports, { identity, owner, rp }) {
    if (rp === undefined) throw new Failure('PASSKEYS_UNAVAILABLE')
    const existing = await ports.passkeys.listOf(identity.id)
    if (existing.length >= MOST_PASSKEYS) throw new Failure('MAX_PASSKEYS_REACHED')
    const withCodes = !(await hasFactor(ports, identity.id))
    const challenge = newChallenge(ports, 'enroll', owner, ports.clock.now(), withCodes)
    const publicKey = creationOptions(rp, challenge, identity, existing)
    const { recoveryCodes } = withCodes
      ? freshRecoveryCodes({ ...ports, random: randomOf(ports.vault, challenge) }, identity.id)
      : { recoveryCodes: [] }
    return { id: challenge, setup: { publicKey }, recoveryCodes }
  },

  find: async () => undefined,

  /** The answer is JSON: `credential` as the browser made it, and `name`. */
  async prove(ports, { identityId, owner, rp }, answer) {
    const now = ports.clock.now()
    const given = parseJson(answer, DEEPEST)?.value
    const attestation = isJsonObject(given) ? readAttestation(given['credential']) : undefined
    if (attestation === undefined || !isJsonObject(given)) {
      return { verdict: 'wrong', passkey: 'malformed' }
    }
    if (rp === undefined) return { verdict: 'wrong', passkey: 'rp-id' }
    const { challenge: text } = attestation.clientData
    const challenge = openChallenge(ports.vault, text, 'enroll', owner, now)
    const verified = await verifyAttestation(attestation, {
      rp,
      isUserVerified: false,
      isOurChallenge: challenge !== undefined,
    })
    if ('refusal' in verified) return { verdict: 'wrong', passkey: verified.refusal }
    if (challenge === undefined) return { verdict: 'wrong', passkey: 'challenge' }
    const passkey: Passkey = {
      id: newId<AuthenticatorId>(ports.random),
      identityId,
      name: passkeyName(given['name']),
      rpId: rp.id,
      ...verified,
      transports: attestation.transports,
      createdAt: now,
      lastUsedAt: undefined,
    }
    return {
      verdict: 'matches',
      passkey,
      async take(tx) {
        const { hash, expiresAt, withCodes } = challenge
        if (!(await tx.spentStates.insert({ hash, expiresAt }))) return false
        const { length } = await tx.passkeys.listOf(identityId)
        if (length >= MOST_PASSKEYS) throw new Failure('MAX_PASSKEYS_REACHED')
        const isFirst = withCodes && !(await hasFactor(tx, identityId))
        // §7.1 step 26: no credential id belongs to two users, or twice to one.
        if (!(await tx.passkeys.insert(passkey))) throw new Failure('PASSKEY_EXISTS')
        await tx.codeGuesses.clear(identityId)
        if (!isFirst) return true
        const random = randomOf(ports.vault, text)
        const { hashes } = freshRecoveryCodes({ vault: ports.vault, random }, identityId)
        await tx.recoveryCodes.replace(identityId, hashes)
        return true
      },
    }
  },

  cancel: async () => 'not-started',

  async remove(tx, identityId) {
    const removed = await tx.passkeys.removeAll(identityId)
    return removed.length > 0
  },
}

const UNNAMED = 'Passkey'

/** A name that is missing or not usable is no reason to refuse a key that the user has just created. */
export function passkeyName(given: unknown): string {
  if (typeof given !== 'string') return UNNAMED
  const text = given
    .replace(/\p{Cc}/gu, '')
    .trim()
    .slice(0, LONGEST_PASSKEY_NAME)
  return text.isWellFormed() && text !== '' ? text : UNNAMED
}

/** Recovery codes come with the first factor, and stay as long as there is one. */
async function hasFactor(
  { totpEnrollments, passkeys }: Pick<SecondFactorStores, 'totpEnrollments' | 'passkeys'>,
  identityId: Passkey['identityId'],
): Promise<boolean> {
  const totp = await totpEnrollments.find(identityId)
  return totp?.isVerified === true || (await passkeys.listOf(identityId)).length > 0
}
