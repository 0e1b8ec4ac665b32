/**
 * Whole lives of logins at random, compared with a simple model of what they must be: wrong and right factors of two
 * identities, enrollments, policies that change, people who are disabled, time that passes, the same step posted
 * several times at once. SPEC States and transitions; R026 – R030, R085, R087, R090; D-7, D-13 … D-20.
 *
 * Promised, whatever happens: no code without every demanded factor of that very identity; no factor used twice; no
 * request completed twice; no code exchanged twice; nothing that one has proven counts for the other.
 */
import { test } from 'node:test'
import fc from 'fast-check'
import { rounds } from '../support/chance/rounds.ts'
import { FILE, loadFile } from '../support/process/config-home.ts'
import { loginCommands } from './login-model/commands.ts'
import { Model } from './login-model/model.ts'
import { makeSurroundings } from './login-model/surroundings.ts'
import { openWorld } from './login-model/world.ts'

// Fewer than the others, because each is a whole life.
const RUNS = rounds(100)

test('no sequence of steps, whoever takes them and however many at once, breaks a promise of the login', async (t) => {
  // D-22 has its own tests; here every failure comes from one address.
  const limits = { failuresPerAddress: 0 }
  // Each world makes its keys, and an RSA key would take longer than a whole life.
  const oidc = { idTokenAlgorithm: 'ES256' }
  const { config } = await loadFile(t, { ...FILE, edge: { limits, oidc } })
  const surroundings = await makeSurroundings(config)
  const commands = fc.commands(loginCommands(), { maxCommands: 60, size: 'max' })

  await fc.assert(
    fc.asyncProperty(commands, async (steps) => {
      const world = await openWorld(surroundings)
      try {
        const model = new Model(world.clock)
        await fc.asyncModelRun(() => ({ model, real: world }), steps)
      } finally {
        await world.close()
      }
    }),
    { numRuns: RUNS },
  )
})
