/**
 * A process of its own that opens a store and ends sessions: `writer.ts <address as JSON> <name> <count>`.
 * It prints each session id when the store has answered, not before.
 */
import { Secret } from '../../src/base/secrets/secret.ts'
import { openStore } from '../../src/store/open.ts'
import { anEnding } from './samples.ts'

const [address = '', name = '', count = ''] = process.argv.slice(2)
const { kind, where } = JSON.parse(address) as { kind: 'sqlite' | 'postgres'; where: string }

const store = await openStore(
  kind === 'sqlite' ? { kind, path: where } : { kind, url: new Secret(where) },
)
for (let i = 0; i < Number(count); i++) {
  const ending = anEnding(`${name}-${i}`)
  await store.transaction((tx) => tx.sessionEndings.insert(ending))
  process.stdout.write(`${ending.subject}\n`)
}
await store.close()
