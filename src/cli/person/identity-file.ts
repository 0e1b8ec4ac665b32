/**
 * The identity file of an enrollment, good for `latchkey login --identity` and for a gateway. Its place is taken before
 * the token is spent, which works once.
 */
import { unlink } from 'node:fs/promises'
import { createPrivateFile, replacePrivateFile } from '../../app/installation/private-files.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import type { EnrolledCertificate } from '../../client/client.ts'
import { CommandFailed } from '../terminal/io.ts'

export interface IdentityPlace {
  keep(enrolled: EnrolledCertificate): Promise<void>
  /** Leaves no file behind. */
  giveUp(): Promise<void>
}

/** Thrown: CommandFailed when something is there, a link too. */
export async function takePlace(path: string): Promise<IdentityPlace> {
  if (!(await createPrivateFile(path, '', { random: systemRandom }))) {
    throw new CommandFailed(`${path} exists; an identity is never overwritten`)
  }
  return {
    async keep({ identityId: id, url, ca, credential: { cert, key } }) {
      const text = `${JSON.stringify({ id, url, ca, cert, key }, undefined, 2)}\n`
      await replacePrivateFile(path, text, { random: systemRandom })
    },
    giveUp: () => unlink(path),
  }
}
