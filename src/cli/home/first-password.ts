/**
 * Shows an administrator's generated password to the operator, once. D-49: printed only on a terminal; otherwise
 * written to a 0600 file in the home, and the output says where.
 */
import { homeFiles } from '../../app/installation/home.ts'
import { replacePrivateFile } from '../../app/installation/private-files.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { Io } from '../terminal/io.ts'

export function passwordTo(
  io: Pick<Io, 'out' | 'isTerminal'>,
  home: string,
  username = 'admin',
): (password: Secret) => Promise<void> {
  const who = `The administrator is ${JSON.stringify(username)}`
  return async (password) => {
    if (io.isTerminal) {
      io.out(`${who}, password ${password.reveal()} (shown only once).`)
      return
    }
    const { adminPassword } = homeFiles(home)
    await replacePrivateFile(adminPassword, `${password.reveal()}\n`, { random: systemRandom })
    io.out(`${who}; the password is in ${adminPassword}`)
  }
}
