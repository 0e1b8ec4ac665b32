#!/usr/bin/env node
// Plain JavaScript that every Node can read: it explains itself to one that is too old, before anything else is loaded.
import { existsSync } from 'node:fs'

const OLDEST = 24
const major = Number(process.versions.node.split('.')[0])

if (major < OLDEST) {
  console.error(
    `latchkey needs Node ${OLDEST} or newer and was started by ${process.version}: in a checkout run "npm ci" and "npm start", which bring their own Node; elsewhere install a newer one.`,
  )
  process.exitCode = 1
} else {
  // A checkout runs its TypeScript as it is; an installed package carries dist.
  const source = new URL('../src/main.ts', import.meta.url)
  await import(existsSync(source) ? source.href : new URL('../dist/main.js', import.meta.url).href)
}
