/**
 * The CAs of our own PKI in a running instance: loaded or created at the start, maintained while it runs (D-129), and
 * written to the home so that they can be given to clients.
 */

import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import { toRfc3339 } from '../../base/time/instant.ts'
import { auditPorts } from '../../domain/audit/ports.ts'
import {
  type CertificateAuthorities,
  loadAuthorities,
} from '../../domain/certificates/own/authorities.ts'
import { recordAuthorities } from '../../domain/certificates/own/record-authorities.ts'
import type { Store } from '../../domain/stores.ts'
import { homeFiles } from '../installation/home.ts'
import { readText, replacePrivateFile } from '../installation/private-files.ts'

export async function openAuthorities(deps: {
  readonly home: string
  readonly store: Store
  readonly vault: Vault
  readonly clock: Clock
  readonly random: Random
}): Promise<CertificateAuthorities> {
  const { home, store, random } = deps
  // Listed every second, so by the reads that are remembered while nothing changes (D-306).
  const listed = { ...store.authorities, list: store.aside.authorities.list }
  const authorities = recordAuthorities({ ...store, authorities: listed, ...auditPorts(deps) })
  const opened = await loadAuthorities({ ...deps, authorities })
  await writeCaFile(home, opened, random)
  return opened
}

/** Runs one round: loads or creates successors. Calls `onChange` when the set of trusted CAs has changed. */
export function followAuthorities(deps: {
  readonly home: string
  readonly authorities: CertificateAuthorities
  readonly random: Random
  readonly log: Log
  readonly onChange: () => void
}): () => Promise<void> {
  const { home, authorities, random, log, onChange } = deps
  let seen = authorities.caBundlePem
  return async () => {
    for (const { role, generation, notAfter } of await authorities.refresh()) {
      log.warn(
        { role, generation, notAfter: toRfc3339(notAfter) },
        'the service created a CA of its own',
      )
    }
    const { caBundlePem } = authorities
    if (caBundlePem === seen) return
    await writeCaFile(home, authorities, random)
    onChange()
    seen = caBundlePem
    log.info({ file: homeFiles(home).ca }, 'the CAs that clients are told to trust have changed')
  }
}

async function writeCaFile(
  home: string,
  { caBundlePem }: CertificateAuthorities,
  random: Random,
): Promise<void> {
  const { ca } = homeFiles(home)
  if ((await readText(ca)) !== caBundlePem) await replacePrivateFile(ca, caBundlePem, { random })
}
