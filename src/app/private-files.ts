/**
 * Files with secrets: 0600 in a folder of 0700, written whole or not at all. A start refuses when the world can
 * read them; a group may (R063, D-101).
 */
import { constants } from 'node:fs'
import { access, mkdir, open, readFile, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { base64url } from '../base/encoding.ts'
import type { Random } from '../base/random.ts'

const WORLD_CAN_READ = 0o004
const WORLD_CAN_ANYTHING = 0o007

/** A refusal to start that the operator can mend; the sentence says how. */
export class RefusedStart extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RefusedStart'
  }
}

export async function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  )
}

/** Makes the folder when it is missing; refuses one that strangers can enter. */
export async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  await refuseMode(path, WORLD_CAN_ANYTHING, `chmod 700 ${path}`)
}

/** Refuses a file that everybody on the machine can read. A missing file is no fault. */
export async function refuseWorldReadable(path: string): Promise<void> {
  if (await exists(path)) await refuseMode(path, WORLD_CAN_READ, `chmod 600 ${path}`)
}

async function refuseMode(path: string, forbidden: number, remedy: string): Promise<void> {
  if (process.platform === 'win32') return // permissions are not in the mode there
  const { mode } = await stat(path)
  if ((mode & forbidden) !== 0) {
    throw new RefusedStart(`everybody on this machine can read ${path}; run: ${remedy}`)
  }
}

/** Creates the file, or answers false when it exists: of two starting instances one writes it. */
export async function createPrivateFile(path: string, text: string): Promise<boolean> {
  try {
    await writeAndSync(path, text, 'wx')
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Replaces the file in one step: a reader sees the old text or the new one, also after a crash. */
export async function replacePrivateFile(
  path: string,
  text: string,
  { random }: { readonly random: Random },
): Promise<void> {
  const beside = join(dirname(path), `.${base64url(random.bytes(6))}`)
  await writeAndSync(beside, text, 'wx')
  await rename(beside, path)
}

export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function writeAndSync(path: string, text: string, flag: 'wx'): Promise<void> {
  const file = await open(path, flag, 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}
