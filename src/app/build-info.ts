/** What this program is, for `/version` and `--version`: from package.json, and from the build that it was made by. */
import { readFile } from 'node:fs/promises'

export interface BuildInfo {
  readonly version: string
  readonly revision: string
  readonly buildDate: string
}

/** What runs from its sources says so, also in a checkout where something was built before. */
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

/** From `src/app` and from `dist/app` alike, the package is two folders up; only `dist` has a build-info.json. */
function readBeside(path: string): Promise<string> {
  return readFile(new URL(path, import.meta.url), 'utf8')
}
