/**
 * What is written sealed is written under the secret that is in use. D-141. An instance that has not noticed yet that
 * the secret was replaced would write what nobody can open: each such write first holds the installation, in the same
 * transaction, and fails when the secret is another one.
 */
import type { SecretHash } from '../../base/secrets/vault.ts'
import { replaceStores } from '../replace-stores.ts'
import type { Store, Stores } from '../stores.ts'
import { SecretReplaced } from './rotate-secret.ts'

/** The same store, for somebody whose vault seals under the secret with this fingerprint. */
export function keepSealed(store: Store, fingerprint: SecretHash): Store {
  const alone = guarded((write) =>
    store.transaction((tx) => holdAnd(tx, fingerprint, () => write(tx))),
  )
  return {
    ...store,
    totpEnrollments: alone.totpEnrollments(store.totpEnrollments),
    signingKeys: alone.signingKeys(store.signingKeys),
    authorities: alone.authorities(store.authorities),
    transaction: (work) =>
      store.transaction((tx) => {
        const within = guarded((write) => holdAnd(tx, fingerprint, () => write(tx)))
        return work(replaceStores(tx, within))
      }),
  }
}

type Guard = <T>(write: (tx: Stores) => Promise<T>) => Promise<T>

/** Every method that writes something sealed: `SealedValues` knows the same places. */
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
