/** The program: hands its arguments to the command line. Nothing else. */
import { runCli } from './cli/run.ts'

process.exitCode = await runCli(process.argv.slice(2))
