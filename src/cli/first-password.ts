/**
 * Hands the first administrator's password to a person, once. D-49: printed on a terminal only; otherwise into a
 * 0600 file in the home, and the output says where.
 */
import { homeFiles } from '../app/home.ts'
import { replacePrivateFile } from '../app/private-files.ts'
import { systemRandom } from '../base/random.ts'
import type { Secret } from '../base/secret.ts'
import type { Io } from './io.ts'

export function passwordTo(io: Io, home: string): (password: Secret) => Promise<void> {
  return async (password) => {
    if (io.isTerminal) {
      io.out(`The administrator is "admin", password ${password.reveal()} (shown this once).`)
      return
    }
    const { adminPassword } = homeFiles(home)
    await replacePrivateFile(adminPassword, `${password.reveal()}\n`, { random: systemRandom })
    io.out(`The administrator is "admin"; the password is in ${adminPassword}`)
  }
}
