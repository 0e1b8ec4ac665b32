/**
 * Builds the documentation site into dist/site, where the service serves it at /docs: `npm run site`. `--if-needed`, for
 * `npm start`, does so only if it is missing or its sources have changed, and never stops a start.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildSite, fingerprint, STAMP } from './site/build.ts'

const folder = fileURLToPath(new URL('../dist/site', import.meta.url))

function isCurrent(): boolean {
  try {
    return readFileSync(`${folder}/${STAMP}`, 'utf8') === fingerprint()
  } catch {
    return false
  }
}

const isOptional = process.argv.includes('--if-needed')
if (!isOptional || !isCurrent()) {
  try {
    await buildSite(folder)
  } catch (error) {
    if (!isOptional) throw error
    const { message } = error as Error
    console.error(`The documentation at /docs could not be built, and is not served: ${message}`)
  }
}
