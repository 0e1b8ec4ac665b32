/**
 * `latchkey` as tests start it: the shipped command, except that `run` hashes passwords cheaply. The strength is an
 * argument of a function, so that nothing in the shipped product can lower it (D-276). And it sees one core, so that a
 * configuration without a number of workers means one process, which starts in half the processor time.
 */
import { enableCompileCache, syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { fileURLToPath } from 'node:url'

os.availableParallelism = () => 1
syncBuiltinESMExports()

// As in bin/latchkey.js, and before anything else is loaded.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/latchkey', import.meta.url)))

const [
  { runService },
  { readHomeOptions },
  { runCli },
  { commandFor },
  { COMMANDS },
  table,
  io,
  { CHEAP },
] = await Promise.all([
  import('../../../src/cli/commands/run.ts'),
  import('../../../src/cli/home/home-options.ts'),
  import('../../../src/cli/run.ts'),
  import('../../../src/cli/table/command.ts'),
  import('../../../src/cli/table/commands.ts'),
  import('../../../src/cli/table/service-commands.ts'),
  import('../../../src/cli/terminal/process-io.ts'),
  import('../login/cheap-hashing.ts'),
])

const commands = COMMANDS.map((shipped) =>
  shipped.words === 'run'
    ? commandFor('service')({
        ...shipped,
        options: table.RUN_OPTIONS,
        load: async () => (values, io) => runService(readHomeOptions(values, io), io, CHEAP),
      })
    : shipped,
)
process.exitCode = await runCli(process.argv.slice(2), io.processIo, commands)
if (io.wasInterrupted()) process.exit()
