/**
 * The identity file of an enrollment, for `latchkey login --identity` and for a gateway. The file is created before the
 * token is spent, because a token works once.
 */
import { unlink } from 'node:fs/promises'
import { writingFile } from '../../app/installation/file-faults.ts'
import { createPrivateFile, replacePrivateFile } from '../../app/installation/private-files.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import type { EnrolledCertificate } from '../../client/client.ts'
import { CommandFailed } from '../terminal/io.ts'

/** Throws CommandFailed if the path exists, even as a link; RefusedStart if it cannot be written. */
export async function takePlace(path: string) {
  const create = () => createPrivateFile(path, '', { random: systemRandom })
  if (!(await writingFile(path, create))) {
    throw new CommandFailed(`${path} exists; an identity is never overwritten`)
  }
  return {
    async keep({ identityId: id, url, ca, credential: { cert, key } }: EnrolledCertificate) {
      const text = `${JSON.stringify({ id, url, ca, cert, key }, undefined, 2)}\n`
      await replacePrivateFile(path, text, { random: systemRandom })
    },
    giveUp: () => unlink(path),
  }
}
