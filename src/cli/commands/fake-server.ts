/**
 * `latchkey fake-server`: a controller for the tests of clients in any language, and the bad days it can have. Only this
 * file may import from `testing/`. docs/testing-clients.md.
 */
import { readFile } from 'node:fs/promises'
import { replacePrivateFile } from '../../app/installation/private-files.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { BAD_DAYS, isScenarioName, SCENARIO_NAMES } from '../../testing/bad-days.ts'
import { readScript, type ScriptStep } from '../../testing/script.ts'
import { startFakeServer } from '../../testing/testing.ts'
import { EXIT, type ExitCode, type Io, Misuse } from '../terminal/io.ts'
import { printJson } from '../terminal/output.ts'
import { readPort } from '../terminal/read-port.ts'
import { listenForSignals } from '../terminal/signals.ts'
import { withProgress } from '../terminal/waiting.ts'

export interface FakeServerValues {
  readonly list?: boolean
  readonly json?: boolean
  readonly scenario?: readonly string[]
  readonly now?: boolean
  readonly script?: string
  readonly port?: string
  readonly out?: string
}

export async function runFakeServer(values: FakeServerValues, io: Io): Promise<ExitCode> {
  if (values.list === true) return list(values, io)
  const script = await readSteps(values)
  const port = readPort(values.port)
  const signals = listenForSignals(systemClock)
  const server = await withProgress(
    io,
    'Starting',
    startFakeServer({
      port,
      script,
      onBegin: (name, goodClient) => {
        io.out(`${name}: ${BAD_DAYS[name].what}`)
        io.out(`  a good client: ${goodClient}`)
      },
    }),
  )
  try {
    const { url, ca, clientId, alice, admin } = server
    const description = { url, clientId, alice, admin, ca }
    // Whole or not at all: programs wait for this file.
    if (values.out !== undefined) {
      await replacePrivateFile(values.out, `${JSON.stringify(description, null, 2)}\n`, {
        random: systemRandom,
      })
      io.out(`The fake server is ready at ${url}; ${values.out} says the rest. Ctrl-C ends it.`)
    } else printJson(io, description)
    await signals.stop
  } finally {
    await server.stop()
  }
  return EXIT.ok
}

function list(values: FakeServerValues, io: Io): ExitCode {
  if (values.json === true) {
    const scenarios = SCENARIO_NAMES.map((name) => ({ name, ...BAD_DAYS[name] }))
    return printJson(io, scenarios)
  }
  for (const name of SCENARIO_NAMES) {
    io.out(name)
    io.out(`  ${BAD_DAYS[name].what}`)
    io.out(`  a good client: ${BAD_DAYS[name].goodClient}`)
  }
  return EXIT.ok
}

/** `--scenario` may be repeated, and a value may name several with commas between them. */
async function readSteps(values: FakeServerValues): Promise<readonly ScriptStep[]> {
  const { scenario = [], now, script } = values
  if (script !== undefined && (scenario.length > 0 || now === true)) {
    throw new Misuse(
      '--script says itself which scenarios begin when: leave out --scenario and --now',
    )
  }
  if (script !== undefined) return readScriptFile(script)
  const names = scenario.flatMap((value) => value.split(','))
  return names.map((name) => {
    if (!isScenarioName(name)) {
      throw new Misuse(
        `there is no scenario ${JSON.stringify(name.slice(0, 40))}; --list shows them`,
      )
    }
    return { scenario: name, after: now === true ? 'start' : 'login' } as const
  })
}

async function readScriptFile(path: string): Promise<readonly ScriptStep[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Misuse(`--script ${path} cannot be read (${error.code})`)
  })
  try {
    return readScript(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) throw new Misuse(`--script ${path} is not JSON`)
    if (error instanceof TypeError) throw new Misuse(error.message)
    throw error
  }
}
