/**
 * The passphrase of a secret in a backup: the first line of a protected file, or typed on the terminal without echo.
 * Never an argument, because other users of the machine can see arguments.
 */
import { RefusedStart, refuseWorldReadable } from '../../app/installation/private-files.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { textOf } from '../contexts/certificate-files.ts'
import { type Io, Misuse } from '../terminal/io.ts'
import { askNewSecret } from '../terminal/new-secret.ts'

type Asking = Pick<Io, 'isInteractive' | 'askSecret' | 'err' | 'resolve'>

/** scrypt makes each guess slow; the length makes many guesses necessary. */
const SHORTEST = 12
const QUESTION = 'Passphrase of the backup: '

/** For a new backup: long enough, and typed twice on a terminal. */
export async function newPassphrase(file: string | undefined, io: Asking): Promise<Secret> {
  const passphrase =
    file === undefined
      ? await ask(io, () => askNewSecret(io, QUESTION))
      : await firstLineOf(file, io)
  if ([...passphrase.reveal()].length < SHORTEST) {
    throw new RefusedStart(`the passphrase has fewer than ${SHORTEST} characters`)
  }
  return passphrase
}

export function readPassphrase(file: string | undefined, io: Asking): Promise<Secret> {
  return file === undefined ? ask(io, () => io.askSecret(QUESTION)) : firstLineOf(file, io)
}

/** Not from standard input, unlike other prompts: input piped into a restore is probably meant for something else. */
async function ask(io: Asking, askOne: () => Promise<string>): Promise<Secret> {
  if (!io.isInteractive) {
    throw new Misuse('--passphrase-file is missing, and there is no terminal to ask on')
  }
  return new Secret(await askOne())
}

async function firstLineOf(file: string, io: Pick<Io, 'resolve'>): Promise<Secret> {
  await refuseWorldReadable(io.resolve(file))
  const text = await textOf(io.resolve(file), file)
  const [line = ''] = text.split(/\r?\n/, 1)
  if (line === '') throw new RefusedStart(`the first line of ${file} is empty`)
  return new Secret(line)
}
