/**
 * Prepares what must exist before requests are served: the installation secret, the database with its tables, the
 * default policy, the first administrator and the certificate authorities. Every start does this first.
 */
import { base64url } from '../../base/encoding.ts'
import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import type { SecretHash, Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Config } from '../../config/config.ts'
import { auditPorts } from '../../domain/audit/ports.ts'
import type { CertificateAuthorities } from '../../domain/certificates/own/authorities.ts'
import type { Turns } from '../../domain/factors/guessing/turns.ts'
import { refuseGuessable } from '../../domain/factors/passwords/guessable-passwords.ts'
import {
  createPasswordHashing,
  type HashStrength,
  type MeasuredHashing,
} from '../../domain/factors/passwords/hashing.ts'
import { refusePassword } from '../../domain/factors/passwords/password-rules.ts'
import {
  ADMINISTRATOR,
  ForeignDatabase,
  install,
  type OpenInstallation,
  openInstallation,
} from '../../domain/installation/installation.ts'
import { keepSealed } from '../../domain/installation/keep-sealed.ts'
import { defaultPolicy } from '../../domain/policies/auth-policy.ts'
import type { Store } from '../../domain/stores.ts'
import {
  checkForDamage,
  type OnEvents,
  openStore,
  type StoreAddress,
  StoreUnavailable,
} from '../../store/open.ts'
import { createHashingTurns } from '../compose/limits.ts'
import { openAuthorities } from '../compose/own-authorities.ts'
import { homeFiles } from './home.ts'
import { emptyBelowUsedHome, isFileMissing, isHomeUsed, nothingInstalled } from './home-in-use.ts'
import { createInstallationSecret, readInstallationSecret } from './installation-secret.ts'
import { exists, RefusedStart, refuseWorldReadable } from './private-files.ts'
import { takeUpWaitingSecret, waitingSecretFile } from './waiting-secret.ts'

/** Bits of a generated password: 120, so that it is still easy to type. */
const RANDOM_PASSWORD_BYTES = 15

const UNUSED_PASSWORD =
  'LATCHKEY_ADMIN_PASSWORD is set but not used, because the administrator exists already; to set a new password run: latchkey admin recover'

export interface OpenedInstallation {
  readonly store: Store
  readonly vault: Vault
  /** Fingerprint of the installation secret that the vault seals under. */
  readonly secretFingerprint: SecretHash
}

export interface Prepared extends OpenedInstallation {
  /** The stored hashing secret of the vault: it changes with a restore (D-159). */
  readonly sealedHashingSecret: string
  readonly hashing: MeasuredHashing
  readonly authorities: CertificateAuthorities
}

/**
 * Sets a generated password of an administrator, in a transaction that calls `storePassword` before it commits. So a
 * process that is killed leaves a stored password, or has changed nothing (D-330). Returns the username, or undefined
 * if no password was set: another instance installed first, or the administrator does not exist.
 */
type SetPassword = (storePassword: () => Promise<void>) => Promise<string | undefined>

/** Calls `set` with a function that stores the password where the operator finds it. */
export type HandOver = (password: Secret, set: SetPassword) => Promise<void>

/** Opens the installation, and creates it if the database is empty. Throws RefusedStart. */
export async function prepare(deps: {
  readonly config: Config
  readonly adminPassword: Secret | undefined
  readonly clock: Clock
  readonly random: Random
  readonly handOver: HandOver
  readonly onEvents?: OnEvents
  readonly log?: Pick<Log, 'warn' | 'info'>
  readonly hashStrength?: HashStrength | undefined
  /** Default: that of the configuration. */
  readonly db?: StoreAddress
  /** Default: turns of this process alone. */
  readonly hashingTurns?: Turns
  /** `checked`: another process of this instance has just checked the database for damage. */
  readonly damage?: 'unchecked' | 'checked'
}): Promise<Prepared> {
  const { config, clock, random } = deps
  // Check this first: another instance that starts in the same home may install in the meantime.
  const isUsed = await isHomeUsed(config)
  if (isUsed && (await isFileMissing(config))) throw emptyBelowUsedHome(config, 'missing')
  if (deps.damage !== 'checked') await refuseDamage(config, deps.log)
  const opened = await openDatabase(config, deps.onEvents, deps.db)
  return closeOnFailure(opened.store, async () => {
    const { hashingTurns: turns = createHashingTurns(config), hashStrength: strength } = deps
    const hashing = createPasswordHashing({ random, turns, strength })
    let installation = await inspect(config, opened, random)
    if (installation !== undefined && deps.adminPassword !== undefined) {
      deps.log?.info({}, UNUSED_PASSWORD)
    }
    if (installation === undefined) {
      if (isUsed) throw emptyBelowUsedHome(config, 'empty')
      const secret = opened.secret ?? (await firstSecret(config, random))
      await makeAdministrator(deps, { store: opened.store, secret, hashing })
      // Read again, even if this instance created it: another instance may have been faster.
      installation = await inspect(config, { ...opened, secret }, random)
    }
    if (installation === undefined) throw new Error('the installation was removed in the meantime')
    const { vault, fingerprint, sealedHashingSecret } = installation
    const store = keepSealed(opened.store, fingerprint)
    const { home } = config
    const authorities = await openAuthorities({ home, store, vault, clock, random })
    const secretFingerprint = fingerprint
    return { store, vault, secretFingerprint, sealedHashingSecret, hashing, authorities }
  })
}

async function makeAdministrator(
  { config, adminPassword, clock, random, handOver }: Parameters<typeof prepare>[0],
  { store, secret, hashing }: Pick<Prepared, 'store' | 'hashing'> & { readonly secret: Uint8Array },
): Promise<void> {
  const password = adminPassword ?? drawPassword(random)
  const { minPasswordLength } = defaultPolicy(clock.now()).primary.updb
  const fault =
    refusePassword(password, minPasswordLength) ??
    (config.passwords.rejectCommon
      ? await refuseGuessable(password, [ADMINISTRATOR, config.brand])
      : undefined)
  if (fault !== undefined) throw new RefusedStart(`LATCHKEY_ADMIN_PASSWORD ${fault.reason}`)
  const { transaction } = store
  const ports = { ...auditPorts({ clock, random }), transaction, hashing }
  const set = async (storePassword?: () => Promise<void>) =>
    (await install(ports, secret, password, storePassword)) ? ADMINISTRATOR : undefined
  if (adminPassword === undefined) await handOver(password, set)
  else await set()
}

export function drawPassword(random: Random): Secret {
  return new Secret(base64url(random.bytes(RANDOM_PASSWORD_BYTES)))
}

/** Opens an existing installation; refuses to create one. */
export async function openPrepared(config: Config, random: Random): Promise<OpenedInstallation> {
  // Opening a database would create it.
  if (await isFileMissing(config)) throw await nothingInstalled(config, 'missing')
  const opened = await openDatabase(config)
  return closeOnFailure(opened.store, async () => {
    const installation = await inspect(config, opened, random)
    if (installation === undefined) throw await nothingInstalled(config, 'empty')
    const { vault, fingerprint } = installation
    return { store: keepSealed(opened.store, fingerprint), vault, secretFingerprint: fingerprint }
  })
}

async function openDatabase(config: Config, onEvents?: OnEvents, db: StoreAddress = config.db) {
  if (config.db.kind === 'sqlite') await refuseWorldReadable(config.db.path)
  const secret = await readInstallationSecret(config.secret)
  const timelineFile = homeFiles(config.home).databaseTimeline
  const address = db.kind === 'postgres' ? { ...db, timelineFile } : db
  return { secret, store: await refusing(openStore(address, onEvents)) }
}

async function refuseDamage({ db }: Config, log: Pick<Log, 'warn'> | undefined): Promise<void> {
  const outcome = await refusing(checkForDamage(db))
  if (outcome === 'sound') return
  log?.warn(
    {},
    'the database was only partly checked for damage, because the time limit was reached; starting anyway',
  )
}

/** The service does not start without a database. */
async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
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

/**
 * Opens what is in the database; returns undefined if it is empty. Finishes a rotation of the secret that was killed
 * after its commit (D-142).
 */
async function inspect(
  config: Config,
  opened: { readonly store: Store; readonly secret: Uint8Array | undefined },
  random: Random,
): Promise<OpenInstallation | undefined> {
  const { installation } = opened.store
  const fingerprint = await installation.findSecretFingerprint()
  if (fingerprint === undefined) return undefined
  const movedTo = await installation.findMove()
  if (movedTo !== undefined) {
    throw new RefusedStart(`this database was moved to ${movedTo}; set "db" to that one`)
  }
  const open = (secret: Uint8Array) => openInstallation({ installation, secret, random })
  try {
    if (opened.secret !== undefined) return await open(opened.secret)
  } catch (error) {
    if (!(error instanceof ForeignDatabase)) throw error
  }
  const next = await takeUpWaitingSecret(config, fingerprint, random)
  if (next !== undefined) return open(next)
  throw new RefusedStart(await describeForeign(config, opened.secret, fingerprint))
}

async function describeForeign(
  config: Config,
  secret: Uint8Array | undefined,
  fingerprint: SecretHash,
): Promise<string> {
  const source = config.secret
  const where = source.kind === 'file' ? source.path : `the variable ${source.variable}`
  if (secret === undefined) {
    return `the installation secret ${where} is missing, but the database was made with one; copy it here`
  }
  const message = `${new ForeignDatabase().message} than the one in ${where}; every instance needs the same one`
  const waiting = waitingSecretFile(config, fingerprint)
  return (await exists(waiting)) ? `${message}; the right one is in ${waiting}` : message
}

/** Creates a secret only for an empty database: if a database has data, a lost secret must be reported. */
async function firstSecret(config: Config, random: Random): Promise<Uint8Array> {
  if (config.secret.kind === 'environment')
    throw new RefusedStart('there is no installation secret')
  return createInstallationSecret(config.secret.path, random)
}
