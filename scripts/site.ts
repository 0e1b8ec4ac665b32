/**
 * Builds the documentation site into dist/site, where the service serves it at /docs: `npm run site`. `--if-needed`, for
 * `npm start`, does so only if it is missing or its sources have changed, and never stops a start. `--into FOLDER` builds
 * it elsewhere.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildSite, fingerprint, STAMP } from './site/build.ts'

const { values } = parseArgs({
  options: { 'if-needed': { type: 'boolean', default: false }, into: { type: 'string' } },
})
const isOptional = values['if-needed']
const folder = values.into ?? fileURLToPath(new URL('../dist/site', import.meta.url))

function isCurrent(): boolean {
  try {
    return readFileSync(`${folder}/${STAMP}`, 'utf8') === fingerprint()
  } catch {
    return false
  }
}

if (!isOptional || !isCurrent()) {
  try {
    console.log('Building the documentation, for /docs …')
    await buildSite(folder)
  } catch (error) {
    if (!isOptional) throw error
    const { message } = error as Error
    console.error(`The documentation at /docs could not be built, and is not served: ${message}`)
  }
}
