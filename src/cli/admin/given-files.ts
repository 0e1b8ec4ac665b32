/** Option values that are not on the command line itself: files, standard input, and prompts. */
import { refuseWorldReadable } from '../../app/installation/private-files.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts'
import { textOf } from '../contexts/certificate-files.ts'
import { CommandFailed, EXIT, type Io } from '../terminal/io.ts'

const STANDARD_INPUT = '-'
const MOST_CHARACTERS = 1024 * 1024
const DEEPEST = 16

export async function readGiven(path: string, io: Pick<Io, 'resolve' | 'input'>): Promise<string> {
  return path === STANDARD_INPUT ? readInput(io) : textOf(io.resolve(path), path)
}

/** Reads the first line. Rejects a file that all users can read; `-` prompts for it, without an echo. */
export async function readSecret(
  path: string,
  io: Pick<Io, 'askSecret' | 'resolve' | 'input'>,
): Promise<string> {
  if (path === STANDARD_INPUT) return io.askSecret('Password: ')
  await refuseWorldReadable(io.resolve(path))
  const [line = ''] = (await readGiven(path, io)).split(/\r?\n/, 1)
  if (line === '') throw new CommandFailed(`the first line of ${path} is empty`, EXIT.usage)
  return line
}

export async function readJson(
  path: string,
  io: Pick<Io, 'resolve' | 'input'>,
): Promise<JsonObject> {
  const value = parseJson(await readGiven(path, io), DEEPEST)?.value
  if (!isJsonObject(value)) {
    const where = path === STANDARD_INPUT ? 'standard input' : path
    throw new CommandFailed(`${where} is not one JSON object`, EXIT.usage)
  }
  return value
}

async function readInput({ input }: Pick<Io, 'input'>): Promise<string> {
  let text = ''
  for await (const part of input) {
    text += part
    if (text.length > MOST_CHARACTERS) {
      throw new CommandFailed('standard input is too long', EXIT.usage)
    }
  }
  return text
}
