/**
 * Ensures that values are sealed under the current secret. D-141. An instance that has not yet noticed a replaced
 * secret would write values that cannot be decrypted. So each such write first locks the installation, in the same
 * transaction, and fails if the secret has changed.
 */
import type { SecretHash } from '../../base/secrets/vault.ts'
import { replaceStores } from '../replace-stores.ts'
import type { Store, Stores } from '../stores.ts'
import { SecretReplaced } from './rotate-secret.ts'

/** Wraps the store for a caller whose vault seals under the secret with this fingerprint. */
export function keepSealed(store: Store, fingerprint: SecretHash): Store {
  const alone = guarded((write) =>
    store.transaction((tx) => holdAnd(tx, fingerprint, () => write(tx))),
  )
  return {
    ...store,
    totpEnrollments: alone.totpEnrollments(store.totpEnrollments),
    signingKeys: alone.signingKeys(store.signingKeys),
    authorities: alone.authorities(store.authorities),
    enrollments: alone.enrollments(store.enrollments),
    transaction: (work) =>
      store.transaction((tx) => {
        const within = guarded((write) => holdAnd(tx, fingerprint, () => write(tx)))
        return work(replaceStores(tx, within))
      }),
  }
}

type Guard = <T>(write: (tx: Stores) => Promise<T>) => Promise<T>

/** Every method that writes a sealed value: `SealedValues` covers the same places. */
function guarded(guard: Guard) {
  return {
    totpEnrollments: (store: Stores['totpEnrollments']): Stores['totpEnrollments'] => ({
      ...store,
      replacePending: (enrollment, recoveryCodes) =>
        guard((tx) => tx.totpEnrollments.replacePending(enrollment, recoveryCodes)),
    }),
    signingKeys: (store: Stores['signingKeys']): Stores['signingKeys'] => ({
      ...store,
      insert: (key) => guard((tx) => tx.signingKeys.insert(key)),
    }),
    authorities: (store: Stores['authorities']): Stores['authorities'] => ({
      ...store,
      insert: (authority) => guard((tx) => tx.authorities.insert(authority)),
    }),
    // Most have no JWT to show (D-317), and then nothing is sealed.
    enrollments: (store: Stores['enrollments']): Stores['enrollments'] => ({
      ...store,
      insert: (enrollment) =>
        enrollment.sealedJwt === undefined
          ? store.insert(enrollment)
          : guard((tx) => tx.enrollments.insert(enrollment)),
      // Before a sealed one is inserted: the rotation locks the installation before the enrollments too (D-485).
      removeExpiredLike: (enrollment, now) =>
        enrollment.sealedJwt === undefined
          ? store.removeExpiredLike(enrollment, now)
          : guard((tx) => tx.enrollments.removeExpiredLike(enrollment, now)),
      replaceToken: (id, next, at) =>
        next.sealedJwt === undefined
          ? store.replaceToken(id, next, at)
          : guard((tx) => tx.enrollments.replaceToken(id, next, at)),
    }),
  }
}

async function holdAnd<T>(
  { installation }: Pick<Stores, 'installation'>,
  fingerprint: SecretHash,
  write: () => Promise<T>,
): Promise<T> {
  if (!(await installation.holdSecret(fingerprint))) throw new SecretReplaced()
  return write()
}
