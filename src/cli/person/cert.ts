/**
 * `latchkey cert`: creates a key and gets an API session certificate for it, as PEM files. SPEC API Session
 * Certificates. Existing files are replaced: a certificate lasts no longer than its session.
 */
import { join } from 'node:path'
import { writingFile } from '../../app/installation/file-faults.ts'
import { makeFolder, replacePrivateFile } from '../../app/installation/private-files.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { instant, toRfc3339 } from '../../base/time/instant.ts'
import type { SessionValues } from '../api/open-api.ts'
import { openSession } from '../contexts/open-session.ts'
import { EXIT, type ExitCode, type Io, Misuse } from '../terminal/io.ts'
import { printFields, printJson } from '../terminal/output.ts'
import { withProgress } from '../terminal/waiting.ts'

export async function writeCertificate(
  values: SessionValues & { readonly out?: string },
  io: Io,
): Promise<ExitCode> {
  if (values.out === undefined) throw new Misuse('"cert" needs --out')
  const folder = io.resolve(values.out)
  const session = await openSession(values, io)
  // Before the request: a certificate that cannot be written would be useless.
  await writingFile(folder, () => makeFolder(folder))
  const got = await withProgress(io, 'Asking for a certificate', session.certificate())

  const files = {
    key: join(folder, 'session-key.pem'),
    cert: join(folder, 'session-cert.pem'),
    ca: join(folder, 'session-ca.pem'),
  }
  const keyPem = got.key.export({ type: 'pkcs8', format: 'pem' }).toString()
  await replacePrivateFile(files.key, keyPem, { random: systemRandom })
  await replacePrivateFile(files.cert, got.certificate, { random: systemRandom })
  await replacePrivateFile(files.ca, got.cas, { random: systemRandom })

  const validTo = toRfc3339(instant(got.validTo.getTime()))
  if (values.json === true) return printJson(io, { id: got.id, ...files, validTo })
  printFields(io, [
    ['certificate', files.cert],
    ['key', files.key],
    ['CAs', files.ca],
    ['valid until', `${validTo}, and no longer than the session`],
  ])
  return EXIT.ok
}
