/** What other rows need before they can be stored. */
import assert from 'node:assert/strict'
import type { Identity } from '../../src/domain/identities/identity.ts'
import type { Store } from '../../src/domain/stores.ts'
import { anIdentity, aPolicy } from './samples.ts'

/** An identity with its policy. */
export async function insertIdentity(store: Store, given: Partial<Identity> = {}): Promise<void> {
  await store.authPolicies.insert(aPolicy())
  assert.equal(await store.identities.insert(anIdentity(given)), 'inserted')
}
