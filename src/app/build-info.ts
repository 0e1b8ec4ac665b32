/** Name, version and build of this program, for `/version` and `--version`: from package.json and the build. */
import { readFile } from 'node:fs/promises'

export interface BuildInfo {
  readonly version: string
  readonly revision: string
  readonly buildDate: string
}

/** Reports a run from sources as such, even in a checkout that also has a build. */
const NOT_BUILT = 'source'

export async function readBuildInfo(): Promise<BuildInfo> {
  const { version } = JSON.parse(await readBeside('../../package.json')) as { version: string }
  try {
    const built = JSON.parse(await readBeside('../build-info.json')) as Partial<BuildInfo>
    return {
      version,
      revision: built.revision ?? NOT_BUILT,
      buildDate: built.buildDate ?? NOT_BUILT,
    }
  } catch {
    return { version, revision: NOT_BUILT, buildDate: NOT_BUILT }
  }
}

/** The package is two folders up from both `src/app` and `dist/app`; only `dist` has a build-info.json. */
function readBeside(path: string): Promise<string> {
  return readFile(new URL(path, import.meta.url), 'utf8')
}
