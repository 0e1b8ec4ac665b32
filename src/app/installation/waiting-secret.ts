/**
 * The next installation secret, before it replaces the current one (D-142): in a separate file, written before the
 * database changes and named after its fingerprint. So a rotation that is killed in between loses nothing, and two
 * concurrent rotations do not take each other's file.
 */
import { chmod, chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { base64url } from '../../base/encoding.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Config } from '../../config/config.ts'
import { secretFingerprint } from '../../domain/installation/installation.ts'
import { readSecretFile } from './installation-secret.ts'
import { createPrivateFile, RefusedStart, syncFolderOf } from './private-files.ts'

type Where = Pick<Config, 'home' | 'secret'>

/** Characters of the fingerprint in the name: enough to avoid collisions. */
const NAME_LETTERS = 16

/** Next to the current secret, or in the home if that is in a variable. */
export function waitingSecretFile({ home, secret }: Where, fingerprint: SecretHash): string {
  const beside = secret.kind === 'file' ? secret.path : join(home, 'secret')
  return `${beside}.next-${fingerprint.slice(0, NAME_LETTERS)}`
}

/** Returns once it is on the disk, readable by the same users as the current one. */
export async function writeWaitingSecret(
  { secret: source }: Where,
  path: string,
  secret: Uint8Array,
  random: Random,
): Promise<void> {
  const isNew = await createPrivateFile(path, `${base64url(secret)}\n`, { random })
  if (!isNew) throw new RefusedStart(`${path} already exists`)
  if (source.kind !== 'file') return
  try {
    // An operator may rotate as root, but the service that must read it next runs as another user.
    const { uid, gid, mode } = await stat(source.path)
    await chown(path, uid, gid)
    await chmod(path, mode & PERMISSIONS)
  } catch (error) {
    await rm(path)
    throw error
  }
}

const PERMISSIONS = 0o777

/**
 * Replaces the current secret by it. Another process may already have done so, because a start finishes a killed
 * rotation. Throws RefusedStart if it must be done by hand.
 */
export async function placeWaitingSecret(path: string, inUse: string): Promise<void> {
  try {
    await moveOver(path, inUse)
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code
    throw new RefusedStart(
      `the installation secret was replaced, but not in ${inUse} (${reason}); copy ${path} there`,
      { cause: error },
    )
  }
}

async function moveOver(path: string, inUse: string): Promise<void> {
  try {
    await rename(path, inUse)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return
    // A file mounted into a container by itself cannot be replaced by a rename; only its content can change.
    if (code !== 'EBUSY') throw error
    await writeFile(inUse, await readFile(path), { flush: true })
    await rm(path)
  }
  await syncFolderOf(inUse)
}

/**
 * Finishes a rotation that was killed after the database had changed: the secret with this fingerprint waits next to
 * the current one, and replaces it. Returns undefined if there is none; a secret in a variable is for the operator to
 * change.
 */
export async function takeUpWaitingSecret(
  where: Where,
  fingerprint: SecretHash,
  random: Random,
): Promise<Uint8Array | undefined> {
  if (where.secret.kind !== 'file') return undefined
  const isThis = (secret: Uint8Array | undefined) =>
    secret !== undefined && secretFingerprint(secret, random) === fingerprint
  const path = waitingSecretFile(where, fingerprint)
  const waiting = await readSecretFile(path)
  if (isThis(waiting)) {
    await placeWaitingSecret(path, where.secret.path)
    return waiting
  }
  // A concurrent rotation may have put it in place since the current one was read.
  const inUse = await readSecretFile(where.secret.path)
  return isThis(inUse) ? inUse : undefined
}
