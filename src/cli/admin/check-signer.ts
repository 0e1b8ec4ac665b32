/** `latchkey signer check`: which login step rejects a JWT. API 3.3, D-136. Exit code 1 if it would be refused. */
import type { CheckedJwt } from '../../contract/management/signer-check.ts'
import { pathOf } from '../api/edge-api.ts'
import { openApi, type SessionValues } from '../api/open-api.ts'
import { EXIT, type ExitCode, type Io, Misuse } from '../terminal/io.ts'
import { plain, printJson } from '../terminal/output.ts'
import { findNamed, idOf } from './entities/names.ts'
import { resourceOf } from './entities/resources.ts'
import { readGiven } from './given-files.ts'

type Step = CheckedJwt['steps'][number]

export async function checkSigner(
  values: SessionValues & { readonly jwt?: string },
  io: Io,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  if (values.jwt === undefined) throw new Misuse('"signer check" needs --jwt')
  const jwt = (await readGiven(values.jwt, io)).trim()
  if (jwt === '') throw new Misuse('the input of --jwt is empty')
  const api = await openApi(values, io)
  const { path } = resourceOf('signer')
  const signer = await findNamed(api, resourceOf('signer'), name)
  const answer = await api.send('POST', pathOf(path, idOf(signer), 'check'), { jwt })
  const { passed, steps } = answer as unknown as CheckedJwt
  if (values.json === true) printJson(io, answer)
  else {
    const width = Math.max(...steps.map(({ step }) => step.length))
    for (const step of steps) for (const line of linesOf(step, width)) io.out(line)
    io.out(
      passed
        ? 'A login with this JWT would be accepted.'
        : 'A login with this JWT would be refused.',
    )
  }
  return passed ? EXIT.ok : EXIT.failed
}

/** Shows the expected and the actual value if they differ. */
export function linesOf(
  { step, passed, expected, received, message }: Step,
  width: number,
): readonly string[] {
  const mark = passed === null ? '?' : passed ? '✓' : '✗'
  const lines = [`${mark} ${step.padEnd(width)}  ${message}`]
  if (passed === false) {
    const indent = ' '.repeat(width + 4)
    if (expected !== null) lines.push(`${indent}expected: ${expected}`)
    if (received !== null) lines.push(`${indent}received: ${received}`)
  }
  return lines.map(plain)
}
