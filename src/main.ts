/** The program: hands its arguments to the command line. Nothing else. */
import { runCli } from './cli/run.ts'
import { wasInterrupted } from './cli/terminal/process-io.ts'

process.exitCode = await runCli(process.argv.slice(2))
// A cancelled request may still be running; the user should not wait for its response.
if (wasInterrupted()) process.exit()
