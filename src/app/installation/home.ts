/**
 * The home folder of an instance: its configuration file and all its other files. Created if it is missing; existing
 * files are never overwritten.
 */
import { join, resolve } from 'node:path'
import { formatHostPort } from '../../base/host-port.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { bindPointsFor, readAddress } from '../../config/addresses/bind-points.ts'
import type { AddressOverride } from '../../config/addresses/override-address.ts'
import type { Config } from '../../config/config.ts'
import { defaultConfigFile } from '../../config/default-file.ts'
import { DEFAULT_ADDRESS, type Environment } from '../../config/environment.ts'
import { CONFIG_FILE, type LoadedConfig, loadConfig } from '../../config/load.ts'
import { refuseTakenPlaces } from '../listen-places.ts'
import {
  createPrivateFile,
  exists,
  makePrivateFolder,
  modeProblem,
  refuseWorldReadable,
} from './private-files.ts'
import { usingHome } from './unusable-home.ts'

/** Where an instance stores the files that it creates. */
export function homeFiles(home: string) {
  const pki = join(home, 'pki')
  return {
    pki,
    /** The CAs that clients must trust: public. */
    ca: join(pki, 'ca.pem'),
    serverCertificate: join(pki, 'server.pem'),
    serverKey: join(pki, 'server.key'),
    /** Which history of a PostgreSQL server was used last (D-296). */
    databaseTimeline: join(home, 'database-timeline'),
    /** D-49: the first password, if there was no terminal to print it on. */
    adminPassword: join(home, 'admin-password'),
  } as const
}

export interface OpenedHome extends LoadedConfig {
  /** The configuration file that was read. */
  readonly file: string
  /** Whether this call created the home. */
  readonly isNew: boolean
  /** Set if the home exists and the address that the operator asked for has no effect: `init` does not change files. */
  readonly unusedAddress: AddressOverride | undefined
}

/**
 * Opens the home, creates it if it is missing, and loads its configuration. An address that the operator asks for goes
 * into a new file; an existing one it overrides, for this run (D-337). Throws ConfigProblems or RefusedStart (of which
 * UnusableHome and UnusablePlace are two).
 */
export async function openHome(from: {
  readonly home: string
  /** A configuration file elsewhere; it must exist. */
  readonly file: string | undefined
  readonly environment: Environment
  readonly port?: number | undefined
  /** `prepare`: nothing will listen. */
  readonly purpose?: 'run' | 'prepare'
}): Promise<OpenedHome> {
  const { file, environment, port, purpose = 'run' } = from
  const home = resolve(from.home)
  const path = file ?? join(home, CONFIG_FILE)
  const isNew = file === undefined && !(await usingHome(home, () => exists(path)))
  if (isNew) await createHome(home, path, { environment, port, purpose })

  const source = { home, environment, ...(file === undefined ? {} : { file }) }
  const { address } = environment
  const isAsked = !isNew && (address !== undefined || port !== undefined)
  const asked = isAsked ? await loadConfig({ ...source, wanted: { address, port } }) : undefined
  const loaded = asked === undefined || purpose === 'prepare' ? await loadConfig(source) : asked
  for (const name of loaded.secretVariables) environment.conceal(name)
  // After the configuration, so that a start names all of its problems and ends with their exit code (D-43).
  await usingHome(home, () => makePrivateFolder(home))
  await refuseWorldReadable(path)
  await usingHome(home, () => makePrivateFolder(homeFiles(home).pki))
  const unusedAddress = purpose === 'prepare' ? asked?.override : undefined
  return { ...loaded, file: path, isNew, unusedAddress }
}

/**
 * Returns what a start would refuse because every user of the machine can access it, each with its remedy (R063,
 * D-101). Does not look at a configuration file outside the home (D-478).
 */
export async function modeProblems({
  home,
  db,
  secret,
  listeners,
}: Pick<Config, 'home' | 'db' | 'secret' | 'listeners'>): Promise<readonly string[]> {
  const { pki, serverKey } = homeFiles(home)
  const files = [
    join(home, CONFIG_FILE),
    ...(db.kind === 'sqlite' ? [db.path] : []),
    ...(secret.kind === 'file' ? [secret.path] : []),
    ...listeners.map(({ identity }) => identity?.key ?? serverKey),
  ]
  const found = await Promise.all([
    ...[home, pki].map((path) => modeProblem(path, 'folder')),
    ...[...new Set(files)].map((path) => modeProblem(path, 'file')),
  ])
  return found.filter((problem) => problem !== undefined)
}

async function createHome(
  home: string,
  path: string,
  {
    environment,
    port,
    purpose,
  }: {
    readonly environment: Environment
    readonly port: number | undefined
    readonly purpose: 'run' | 'prepare'
  },
): Promise<void> {
  // Refuse an invalid address or a taken port before creating anything.
  const parsed = readAddress(environment.address ?? DEFAULT_ADDRESS)
  const address = formatHostPort(port === undefined ? parsed : { ...parsed, port })
  const text = defaultConfigFile({ address })
  if (purpose === 'run') {
    await refuseTakenPlaces(bindPointsFor(readAddress(address)).map((point) => point.interface))
  }
  await usingHome(home, async () => {
    await makePrivateFolder(home)
    await createPrivateFile(path, text, { random: systemRandom })
  })
}
