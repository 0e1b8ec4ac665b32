/**
 * The home folder of an instance: its configuration file and where everything else lives. Made when it is missing;
 * what is in it already is never overwritten.
 */
import { join, resolve } from 'node:path'
import { systemRandom } from '../../base/secrets/random.ts'
import { defaultConfigFile } from '../../config/default-file.ts'
import { DEFAULT_ADDRESS, type Environment } from '../../config/environment.ts'
import { CONFIG_FILE, type LoadedConfig, loadConfig } from '../../config/load.ts'
import {
  createPrivateFile,
  exists,
  makePrivateFolder,
  refuseWorldReadable,
} from './private-files.ts'

/** Where an instance keeps what it makes for itself. */
export function homeFiles(home: string) {
  const pki = join(home, 'pki')
  return {
    pki,
    /** What clients must trust: public. */
    ca: join(pki, 'ca.pem'),
    serverCertificate: join(pki, 'server.pem'),
    serverKey: join(pki, 'server.key'),
    /** D-49: the first password, when there was no terminal to print it on. */
    adminPassword: join(home, 'admin-password'),
  } as const
}

/** Opens the home, making it when it is missing, and loads its configuration. Thrown: ConfigProblems, RefusedStart. */
export async function openHome(from: {
  readonly home: string
  /** A configuration file somewhere else; it must exist. */
  readonly file: string | undefined
  readonly environment: Environment
}): Promise<LoadedConfig> {
  const { file, environment } = from
  const home = resolve(from.home)
  const path = file ?? join(home, CONFIG_FILE)
  const isNew = file === undefined && !(await exists(path))
  // An address that cannot be used is refused before anything is made.
  const { address = DEFAULT_ADDRESS } = environment
  const text = isNew ? defaultConfigFile({ address }) : undefined
  await makePrivateFolder(home)
  if (text !== undefined) await createPrivateFile(path, text, { random: systemRandom })
  await refuseWorldReadable(path)
  const loaded = await loadConfig({ home, environment, ...(file === undefined ? {} : { file }) })
  for (const name of loaded.secretVariables) environment.conceal(name)
  await makePrivateFolder(homeFiles(home).pki)
  return loaded
}
