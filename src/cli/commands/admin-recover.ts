/**
 * `latchkey admin recover`: restores access for an administrator, for operators with access to the machine (D-49,
 * D-140). The password is generated, and passed on like the first one.
 */
import { type Recovery, recoverOnCommand } from '../../app/installation/recover-administrator.ts'
import { createGeneratedPassword } from '../home/generated-password.ts'
import { type HomeValues, readHomeOptions } from '../home/home-options.ts'
import { loadInstalled } from '../home/installed-config.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'

export async function recoverAdministrator(
  values: HomeValues & { readonly identity?: string },
  io: Io,
): Promise<ExitCode> {
  /** A name or an id. */
  const { identity: wanted } = values
  const config = await loadInstalled(readHomeOptions(values, io))
  const password = createGeneratedPassword(io, config.home, 'shown')
  const recovery = await recoverOnCommand(config, wanted, password.take)
  switch (recovery.outcome) {
    case 'unknown':
      io.err(`latchkey: there is no identity ${JSON.stringify(wanted)}`)
      return EXIT.usage
    case 'ambiguous':
      for (const line of refusalLines(recovery.administrators)) io.err(line)
      return EXIT.usage
    case 'created':
    case 'recovered':
      password.show()
      for (const line of outcomeLines(recovery)) io.out(line)
      return EXIT.ok
  }
}

function refusalLines(administrators: readonly { id: string; name: string }[]): readonly string[] {
  if (administrators.length === 0) {
    return ['latchkey: there is no administrator; choose with --identity who becomes one']
  }
  return [
    'latchkey: there are several administrators; choose one with --identity:',
    ...administrators.map(({ id, name }) => `  ${JSON.stringify(name)} (${id})`),
  ]
}

function outcomeLines(
  recovery: Extract<Recovery, { outcome: 'recovered' | 'created' }>,
): readonly string[] {
  if (recovery.outcome === 'created') return ['There was no identity at all: this one is new.']
  const { name, reset, policy, endedSessions } = recovery
  const lines = [
    `Reset for ${JSON.stringify(name)}: ${reset.map((part) => WORDS[part]).join(', ')}.`,
    `Sessions ended: ${endedSessions}.`,
  ]
  return policy === 'default'
    ? lines
    : [
        ...lines,
        `The policy "default" does not allow logins with only a password and was not changed; this identity now has the policy ${JSON.stringify(policy)}.`,
      ]
}

type Part = Extract<Recovery, { outcome: 'recovered' }>['reset'][number]

const WORDS: Readonly<Record<Part, string>> = {
  password: 'password',
  lock: 'lock',
  totp: 'TOTP and recovery codes',
  passkey: 'passkeys',
  policy: 'policy',
  disablement: 'disablement',
  administrator: 'administrator again',
}
