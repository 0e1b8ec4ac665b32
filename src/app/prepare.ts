/**
 * What must exist before anything can be served: the installation secret, the database with its tables, the default
 * policy, the first administrator and the certificate authorities. Every start does this first.
 */
import { availableParallelism } from 'node:os'
import type { Clock } from '../base/clock.ts'
import { base64url } from '../base/encoding.ts'
import type { Random } from '../base/random.ts'
import { Secret } from '../base/secret.ts'
import { createVault, type Vault } from '../base/vault.ts'
import type { Config } from '../config/config.ts'
import { createRecordEvent } from '../domain/audit/record.ts'
import { type CertificateAuthorities, loadAuthorities } from '../domain/certificates/authorities.ts'
import { refuseGuessable } from '../domain/factors/guessable-passwords.ts'
import { createPasswordHashing, type PasswordHashing } from '../domain/factors/hashing.ts'
import { refusePassword } from '../domain/factors/password-rules.ts'
import {
  ADMINISTRATOR,
  ForeignDatabase,
  inspectInstallation,
  install,
} from '../domain/installation/installation.ts'
import { defaultPolicy } from '../domain/policies/auth-policy.ts'
import type { Store } from '../domain/stores.ts'
import { openStore, StoreUnavailable } from '../store/open.ts'
import { homeFiles } from './home.ts'
import { createInstallationSecret, readInstallationSecret } from './installation-secret.ts'
import {
  exists,
  RefusedStart,
  readText,
  refuseWorldReadable,
  replacePrivateFile,
} from './private-files.ts'

/** Bits of a password that nobody chose: 120, so that it can be typed in one go. */
const RANDOM_PASSWORD_BYTES = 15

/** Hashing shares four threads with everything else that cannot run on the main one; one is left free (R081). */
const MOST_HASHING = 3

export interface Prepared {
  readonly store: Store
  readonly vault: Vault
  readonly hashing: PasswordHashing
  readonly authorities: CertificateAuthorities
}

/** Opens the installation, and makes it when the database is empty. Thrown: RefusedStart. */
export async function prepare(deps: {
  readonly config: Config
  readonly adminPassword: Secret | undefined
  readonly clock: Clock
  readonly random: Random
  /** Called when the administrator was made with a password that nobody has seen, and that is shown nowhere else. */
  readonly handOver: (password: Secret) => Promise<void>
}): Promise<Prepared> {
  const { config, clock, random } = deps
  const opened = await openDatabase(config)
  const { store } = opened
  return closeOnFailure(store, async () => {
    const secret = opened.secret ?? (await firstSecret(config, store, random))
    const vault = createVault(secret, random)
    const hashing = composeHashing(config, random)
    if ((await inspect(config, store, vault)) === 'new') {
      await makeAdministrator(deps, { store, vault, hashing })
    }
    const authorities = await loadAuthorities({
      authorities: store.authorities,
      vault,
      random,
      clock,
    })
    const { ca } = homeFiles(config.home)
    if ((await readText(ca)) !== authorities.caBundlePem) {
      await replacePrivateFile(ca, authorities.caBundlePem, { random })
    }
    return { store, vault, hashing, authorities }
  })
}

async function makeAdministrator(
  { config, adminPassword, clock, random, handOver }: Parameters<typeof prepare>[0],
  { store, vault, hashing }: Pick<Prepared, 'store' | 'vault' | 'hashing'>,
): Promise<void> {
  const password = adminPassword ?? new Secret(base64url(random.bytes(RANDOM_PASSWORD_BYTES)))
  const { minPasswordLength } = defaultPolicy(clock.now()).primary.updb
  const fault =
    refusePassword(password, minPasswordLength) ??
    (config.passwords.rejectCommon
      ? await refuseGuessable(password, [ADMINISTRATOR, config.brand])
      : undefined)
  if (fault !== undefined) throw new RefusedStart(`LATCHKEY_ADMIN_PASSWORD ${fault}`)
  const recordEvent = createRecordEvent({ clock, random })
  const { transaction } = store
  const needs = { transaction, vault, hashing, clock, random, recordEvent }
  const isOurs = await install(needs, password)
  // At once: whatever fails later in this start, the password is known by then.
  if (isOurs && adminPassword === undefined) await handOver(password)
}

/** Opens an installation that exists; refuses to make one. */
export async function openPrepared(
  config: Config,
  random: Random,
): Promise<{ readonly store: Store; readonly vault: Vault }> {
  const nothing = `nothing is installed in ${config.home} yet; run: latchkey init`
  // Opening a database would make it.
  const { db } = config
  if (db.kind === 'sqlite' && !(await exists(db.path))) throw new RefusedStart(nothing)
  const { store, secret } = await openDatabase(config)
  return closeOnFailure(store, async () => {
    const vault = secret && createVault(secret, random)
    if (vault === undefined || (await inspect(config, store, vault)) === 'new') {
      throw new RefusedStart(nothing)
    }
    return { store, vault }
  })
}

async function openDatabase(config: Config) {
  if (config.db.kind === 'sqlite') await refuseWorldReadable(config.db.path)
  const secret = await readInstallationSecret(config.secret)
  try {
    return { secret, store: await openStore(config.db) }
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new RefusedStart(error.message, { cause: error })
    throw error
  }
}

async function closeOnFailure<T>(store: Store, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await store.close()
    throw error
  }
}

async function inspect({ secret }: Config, { installation }: Store, vault: Vault) {
  try {
    return await inspectInstallation({ installation, vault })
  } catch (error) {
    if (!(error instanceof ForeignDatabase)) throw error
    const where = secret.kind === 'file' ? secret.path : `the variable ${secret.variable}`
    const message = `${error.message} than the one in ${where}; every instance needs the same one`
    throw new RefusedStart(message, { cause: error })
  }
}

/** A secret is made only for an empty database: beside a full one its loss must be noticed, not papered over. */
async function firstSecret(config: Config, store: Store, random: Random): Promise<Uint8Array> {
  if (config.secret.kind === 'environment')
    throw new RefusedStart('there is no installation secret')
  const { path } = config.secret
  if ((await store.installation.findSecretFingerprint()) !== undefined) {
    throw new RefusedStart(
      `the installation secret ${path} is missing, but the database was made with one; copy it here`,
    )
  }
  return createInstallationSecret(path, random)
}

function composeHashing({ passwords }: Config, random: Random): PasswordHashing {
  const { hashing, queue } = passwords
  const concurrency = hashing === 'auto' ? Math.min(availableParallelism(), MOST_HASHING) : hashing
  return createPasswordHashing({ random, concurrency, queue })
}
