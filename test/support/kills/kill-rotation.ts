/**
 * Loaded before the command (`node --import`): at one step of `latchkey secret rotate` the process kills itself, as a
 * kill -9 or a power cut would. Which step is in KILL_AT.
 */
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import process from 'node:process'
import { beforeStatements } from './before-statements.ts'

export const STEPS = ['writing', 'written', 'committing', 'committed', 'placed'] as const

const step = process.env['KILL_AT']
if (step !== undefined) arm(step)

function arm(step: string): void {
  let isWritten = false
  const killAt = (here: (typeof STEPS)[number]) => {
    if (here === step) process.kill(process.pid, 'SIGKILL')
  }

  const { link, rename } = fs
  fs.link = async (from, to) => {
    const isWaiting = String(to).includes('.next-')
    if (isWaiting) killAt('writing')
    await link(from, to)
    if (!isWaiting) return
    isWritten = true
    killAt('written')
  }
  fs.rename = async (from, to) => {
    const isWaiting = String(from).includes('.next-')
    if (isWaiting) killAt('committed')
    await rename(from, to)
    if (isWaiting) killAt('placed')
  }
  syncBuiltinESMExports()

  beforeStatements((text) => {
    if (isWritten && text === 'commit') killAt('committing')
  })
}
