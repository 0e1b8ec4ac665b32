/**
 * The passphrase of a secret in a backup: the first line of a file that is not for everybody, or asked for on the
 * terminal, where it is not shown. Never an argument: everybody on the machine sees those.
 */
import { stripVTControlCharacters } from 'node:util'
import { RefusedStart, readText, refuseWorldReadable } from '../app/private-files.ts'
import { Secret } from '../base/secret.ts'
import { Misuse } from './io.ts'

/** scrypt makes a guess slow; this makes guesses many. */
const SHORTEST = 12

/** For a new backup: long enough, and typed twice where it is typed. */
export async function newPassphrase(file: string | undefined): Promise<Secret> {
  const passphrase = await readPassphrase(file)
  if ([...passphrase.reveal()].length < SHORTEST) {
    throw new RefusedStart(`the passphrase has fewer than ${SHORTEST} characters`)
  }
  if (file === undefined) {
    const again = await ask('The same once more: ')
    if (again.reveal() !== passphrase.reveal()) throw new RefusedStart('the two are not the same')
  }
  return passphrase
}

export async function readPassphrase(file: string | undefined): Promise<Secret> {
  if (file === undefined) return ask('Passphrase of the backup: ')
  await refuseWorldReadable(file)
  const text = await readText(file)
  if (text === undefined) throw new RefusedStart(`there is no file ${file}`)
  const [line = ''] = text.split(/\r?\n/, 1)
  if (line === '') throw new RefusedStart(`the first line of ${file} is empty`)
  return new Secret(line)
}

const ENTER = ['\r', '\n']
const INTERRUPT = '\u0003'
const ERASE = ['\b', '\u007f']

function ask(question: string): Promise<Secret> {
  const { stdin, stderr } = process
  if (stdin.isTTY !== true) {
    throw new Misuse('--passphrase-file is missing, and there is no terminal to ask on')
  }
  // First, or what is typed in the moment of the question would be shown.
  stdin.setRawMode(true).setEncoding('utf8').resume()
  stderr.write(question)
  return new Promise((resolve, reject) => {
    let typed: string[] = []
    const end = () => {
      stdin.setRawMode(false).pause()
      stdin.off('data', take)
      stderr.write('\n')
    }
    function take(text: string): void {
      for (const character of stripVTControlCharacters(text)) {
        if (character === INTERRUPT) {
          end()
          reject(new RefusedStart('given up'))
          return
        }
        if (ENTER.includes(character)) {
          end()
          resolve(new Secret(typed.join('')))
          return
        }
        if (ERASE.includes(character)) typed = typed.slice(0, -1)
        else typed.push(character)
      }
    }
    stdin.on('data', take)
  })
}
