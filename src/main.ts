/** The program: hands its arguments to the command line. Nothing else. */
import { runCli } from './cli/run.ts'
import { wasInterrupted } from './cli/terminal/process-io.ts'

process.exitCode = await runCli(process.argv.slice(2))
// A request that was given up may still be under way; the person does not wait for its answer.
if (wasInterrupted()) process.exit()
