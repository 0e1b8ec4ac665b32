/**
 * The folder of a demo: created for this run, 0700, and removed with its contents when the process ends, unless it is
 * killed. All files for the user are in it.
 */
import { rmSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { replacePrivateFile } from '../app/installation/private-files.ts'
import { systemRandom } from '../base/secrets/random.ts'

export interface DemoFolder {
  readonly path: string
  file(name: string): string
  /** 0600; an existing file is replaced atomically. */
  write(name: string, text: string): Promise<void>
  remove(): Promise<void>
}

const ALL = { recursive: true, force: true, maxRetries: 3 } as const

export async function makeDemoFolder(): Promise<DemoFolder> {
  const path = await mkdtemp(join(await realpath(tmpdir()), 'latchkey-demo-'))
  const removeNow = () => rmSync(path, ALL)
  process.once('exit', removeNow)
  const file = (name: string) => join(path, name)
  return {
    path,
    file,
    write: (name, text) => replacePrivateFile(file(name), text, { random: systemRandom }),
    async remove() {
      await rm(path, ALL)
      process.off('exit', removeNow)
    },
  }
}
