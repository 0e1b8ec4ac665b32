/** Loads the configuration of an existing home, for commands that must not create one. */
import { join, resolve } from 'node:path'
import { neverInstalled } from '../../app/installation/home-in-use.ts'
import { exists } from '../../app/installation/private-files.ts'
import { usingHome } from '../../app/installation/unusable-home.ts'
import type { Config } from '../../config/config.ts'
import { CONFIG_FILE, loadConfig } from '../../config/load.ts'
import type { HomeOptions } from './home-options.ts'

/** Throws RefusedStart if nothing is installed, UnusableHome, or ConfigProblems. */
export async function loadInstalled({ home, file, environment }: HomeOptions): Promise<Config> {
  const find = () => exists(join(home, CONFIG_FILE))
  if (file === undefined && !(await usingHome(resolve(home), find))) {
    throw neverInstalled(resolve(home))
  }
  const { config, secretVariables } = await loadConfig({ home, environment, file })
  for (const name of secretVariables) environment.conceal(name)
  return config
}
