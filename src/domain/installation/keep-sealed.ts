/**
 * What is written sealed is written under the secret that is in use. D-141. An instance that has not noticed yet that
 * the secret was replaced would write what nobody can open: each such write first holds the installation, in the same
 * transaction, and fails when the secret is another one.
 */
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Store, Stores } from '../stores.ts'
import { SecretReplaced } from './rotate-secret.ts'

/** The same store, for somebody whose vault seals under the secret with this fingerprint. */
export function keepSealed(store: Store, fingerprint: SecretHash): Store {
  const within = (tx: Stores) => guarded(tx, (write) => holdAnd(tx, fingerprint, () => write(tx)))
  const alone = guarded(store, (write) =>
    store.transaction((tx) => holdAnd(tx, fingerprint, () => write(tx))),
  )
  return {
    ...store,
    ...alone,
    transaction: (work) => store.transaction((tx) => work(within(tx))),
  }
}

type Guard = <T>(write: (tx: Stores) => Promise<T>) => Promise<T>

/** Every method that writes something sealed: `SealedValues` knows the same places. */
function guarded(stores: Stores, guard: Guard): Stores {
  return {
    ...stores,
    totpEnrollments: {
      ...stores.totpEnrollments,
      replacePending: (enrollment, recoveryCodes) =>
        guard((tx) => tx.totpEnrollments.replacePending(enrollment, recoveryCodes)),
    },
    signingKeys: {
      ...stores.signingKeys,
      insert: (key) => guard((tx) => tx.signingKeys.insert(key)),
    },
    authorities: {
      ...stores.authorities,
      insert: (authority) => guard((tx) => tx.authorities.insert(authority)),
    },
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
