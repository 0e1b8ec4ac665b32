#!/usr/bin/env node
// Plain JavaScript that every Node can read: it explains itself to one that is too old, before anything else is loaded.
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const OLDEST = 24
const major = Number(process.versions.node.split('.')[0])

if (major < OLDEST) {
  console.error(
    `latchkey needs Node ${OLDEST} or newer and was started by ${process.version}: in a checkout run "npm ci" and "npm start", which bring their own Node; elsewhere install a newer one.`,
  )
  process.exitCode = 1
} else {
  // Halves the work of the next start. Kept beside the code that it speeds up, where only those can write who can
  // change that code too; Node's own choice would be a folder that everybody on the machine shares.
  const cache = fileURLToPath(new URL('../node_modules/.cache/latchkey', import.meta.url))
  module.enableCompileCache(cache)

  // A checkout runs its TypeScript as it is; an installed package carries a bundle of it (D-271).
  const source = new URL('../src/main.ts', import.meta.url)
  const bundle = new URL('../dist/program/main.js', import.meta.url)
  await import(existsSync(source) ? source.href : bundle.href)
}
