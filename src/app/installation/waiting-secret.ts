/**
 * The next installation secret, while it waits to take the place of the one in use (D-142): in a file of its own,
 * written before the database changes and named after its fingerprint. So whoever was killed in between has lost
 * nothing, and two who rotate at the same time do not take each other's.
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

/** Letters of the fingerprint in the name: enough that no two meet. */
const NAME_LETTERS = 16

/** Beside the secret in use; in the home where that is in a variable. */
export function waitingSecretFile({ home, secret }: Where, fingerprint: SecretHash): string {
  const beside = secret.kind === 'file' ? secret.path : join(home, 'secret')
  return `${beside}.next-${fingerprint.slice(0, NAME_LETTERS)}`
}

/** On the disk when this comes back, and for the same eyes as the one in use. */
export async function writeWaitingSecret(
  { secret: source }: Where,
  path: string,
  secret: Uint8Array,
  random: Random,
): Promise<void> {
  const isNew = await createPrivateFile(path, `${base64url(secret)}\n`, { random })
  if (!isNew) throw new RefusedStart(`there is a file ${path} already`)
  if (source.kind !== 'file') return
  try {
    // An operator may rotate as root; the service that must read it next runs as somebody else.
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
 * Puts it in the place of the one in use. Somebody else may have done it: a start finishes what was killed. Thrown:
 * RefusedStart when it must be done by hand.
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
    // A file that is mounted into a container by itself has a name that cannot be given away, only another content.
    if (code !== 'EBUSY') throw error
    await writeFile(inUse, await readFile(path), { flush: true })
    await rm(path)
  }
  await syncFolderOf(inUse)
}

/**
 * Finishes a rotation that was killed after the database had changed: the secret with this fingerprint waits beside the
 * one in use, and takes its place. Undefined when there is none; a secret in a variable is its owner's to change.
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
  // Whoever rotates may have put it in place since the one in use was read.
  const inUse = await readSecretFile(where.secret.path)
  return isThis(inUse) ? inUse : undefined
}
