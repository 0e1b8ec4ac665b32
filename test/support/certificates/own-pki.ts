/**
 * The issuing CA of a running service, with its key: taken from the store and opened with the installation secret of
 * the home, so that a test can have a certificate of the service's own PKI made by an independent hand.
 */
import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import type { Service } from '../service.ts'
import { vaultOf } from '../signing.ts'
import { type MadeCertificate, madeCertificate } from './openssl.ts'

export async function ownIssuingCa(service: Service): Promise<MadeCertificate> {
  const store = await service.openStore()
  const stored = (await store.authorities.list()).findLast(({ role }) => role === 'issuing')
  assert.ok(stored)
  const { certificatePem: pem, sealedKey, role, generation } = stored
  const pkcs8 = (await vaultOf(service)).open('authority-key', sealedKey, `${role}/${generation}`)
  assert.ok(pkcs8)
  const key = createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' })
  return madeCertificate(pem, key.export({ format: 'pem', type: 'pkcs8' }).toString())
}
