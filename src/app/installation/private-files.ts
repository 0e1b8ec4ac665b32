/**
 * Files with secrets: 0600 in a folder of 0700, written atomically. A start is refused if other users can access them;
 * group access is allowed (R063, D-101).
 */
import { link, mkdir, open, readFile, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { base64url } from '../../base/encoding.ts'
import type { Random } from '../../base/secrets/random.ts'
import { shellWord } from '../../base/shell-word.ts'

/** Read access reveals a secret; write access lets other users choose it. */
const WORLD_READS_OR_WRITES = 0o006
const WORLD_DOES_ANYTHING = 0o007

/** A refusal to start that the operator can fix; the message says how. */
export class RefusedStart extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RefusedStart'
  }
}

export async function exists(path: string): Promise<boolean> {
  return (await modeOf(path)) !== undefined
}

/** Creates the folder if it is missing; refuses one that other users can enter. */
export async function makePrivateFolder(path: string): Promise<void> {
  await makeFolder(path)
  await refuseMode(path, 'folder')
}

/** Creates the folder and its parents. Node's `recursive` never returns where no folder can be created, as in /proc. */
export async function makeFolder(path: string): Promise<void> {
  if (await isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path && !(await exists(parent))) await makeFolder(parent)
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    // Another instance that started at the same time created it first.
    if (!(await isFolder(path))) throw error
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await unlessMissing(stat(path)))?.isDirectory() === true
}

/** Refuses a file that every user of the machine can read or change. A missing file is accepted. */
export async function refuseWorldReadable(path: string): Promise<void> {
  await refuseMode(path, 'file')
}

async function refuseMode(path: string, kind: 'file' | 'folder'): Promise<void> {
  const problem = await modeProblem(path, kind)
  if (problem !== undefined) throw new RefusedStart(problem)
}

/** Returns why a start would refuse the mode of this file or folder, and the remedy; undefined if it would not. */
export async function modeProblem(
  path: string,
  kind: 'file' | 'folder',
): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined // permissions are not in the mode there
  const [forbidden, remedy] =
    kind === 'file' ? [WORLD_READS_OR_WRITES, '600'] : [WORLD_DOES_ANYTHING, '700']
  const mode = await modeOf(path)
  if (mode === undefined || (mode & forbidden) === 0) return undefined
  return `every user of this machine can access ${path}; run: chmod ${remedy} ${shellWord(path)}`
}

async function modeOf(path: string): Promise<number | undefined> {
  return unlessMissing(stat(path).then(({ mode }) => mode))
}

/** Creates the file, or returns false if it exists: of two starting instances, one writes it. */
export async function createPrivateFile(
  path: string,
  text: string,
  { random }: { readonly random: Random },
): Promise<boolean> {
  try {
    // A link appears with its whole text or not at all, unlike a file that is being written.
    await putInPlace(path, text, random, async (beside) => {
      await link(beside, path)
      await unlink(beside)
    })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Replaces the file atomically: a reader sees the old text or the new one, even after a crash. */
export async function replacePrivateFile(
  path: string,
  text: string,
  { random }: { readonly random: Random },
): Promise<void> {
  await putInPlace(path, text, random, (beside) => rename(beside, path))
}

/** Syncs a folder after a rename: without this, the old name may be back after a power failure. */
export async function syncFolderOf(path: string): Promise<void> {
  await syncFolder(dirname(path))
}

export async function readText(path: string): Promise<string | undefined> {
  return unlessMissing(readFile(path, 'utf8'))
}

async function putInPlace(
  path: string,
  text: string,
  random: Random,
  place: (beside: string) => Promise<void>,
): Promise<void> {
  const folder = dirname(path)
  const beside = join(folder, `.${base64url(random.bytes(6))}`)
  try {
    await writeAndSync(beside, text)
    await place(beside)
  } catch (error) {
    await unlessMissing(unlink(beside))
    // A write has no path, and other calls name a file that is gone by now.
    throw Object.assign(error as NodeJS.ErrnoException, { path })
  }
  await syncFolder(folder)
}

async function writeAndSync(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Without this, a new name in the folder may be lost in a power failure. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return // a folder cannot be opened there
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
