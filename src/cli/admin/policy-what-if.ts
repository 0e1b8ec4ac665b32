/** `latchkey policy what-if`: what a change of a policy would do, without making it. D-365. */
import type { PolicyPreview } from '../../contract/management/auth-policy-preview.ts'
import { pathOf } from '../api/edge-api.ts'
import type { Run } from '../table/command.ts'
import { EXIT, Misuse } from '../terminal/io.ts'
import { plain, printJson } from '../terminal/output.ts'
import { findNamed, idOf } from './entities/names.ts'
import { resourceOf } from './entities/resources.ts'
import { openChange, type WriteValues } from './entities/write-entity.ts'

export const policyWhatIf: Run<WriteValues> = async (values, io, [name = '']) => {
  const policies = resourceOf('policy')
  const fields = policies.update?.fields ?? []
  const { api, body } = await openChange(fields, values, io)
  if (Object.keys(body).length === 0) {
    throw new Misuse(
      'there is nothing to preview: "policy what-if" needs an option that says what to change',
    )
  }
  const policy = await findNamed(api, policies, name)
  const answer = await api.send('POST', pathOf(policies.path, idOf(policy), 'what-if'), body)
  if (values.json === true) printJson(io, answer)
  else for (const line of linesOf(answer as unknown as PolicyPreview)) io.out(plain(line))
  return EXIT.ok
}

/** Exported for its test. */
export function linesOf(preview: PolicyPreview): readonly string[] {
  const { changed, refusal, identities, lockedOut, mustEnroll, sessions } = preview
  if (changed.length === 0) return ['This changes nothing.']
  const { total, judged } = identities
  return [
    `${count(total, 'identity', 'identities')} with this policy${
      judged < total ? `; the first ${judged} were judged` : ''
    }`,
    ...(refusal === null
      ? []
      : [
          'Saving would be refused: no administrator could sign in afterwards (LAST_ADMINISTRATOR).',
        ]),
    `Could no longer sign in: ${lockedOut.count}`,
    ...lockedOut.rows.map(
      ({ name, isAdmin, because }) =>
        `  ${name}${isAdmin ? ' (administrator)' : ''}: ${because
          .map(({ method, message }) => `${method}: ${message}`)
          .join(' ')}`,
    ),
    ...more(lockedOut),
    `Would have to set up a second factor: ${mustEnroll.count}`,
    ...mustEnroll.rows.map(({ name }) => `  ${name}`),
    ...more(mustEnroll),
    `Sessions that would end: ${sessions.ending.count} of ${sessions.live}`,
    ...sessions.ending.rows.map(
      ({ id, identity, message }) => `  ${identity.name} (${id}): ${message}`,
    ),
    ...more(sessions.ending),
    ...(sessions.restricted === 0
      ? []
      : [`Legacy sessions that must first prove a further factor: ${sessions.restricted}`]),
    'Nothing was changed.',
  ]
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`
}

function more(list: { count: number; rows: readonly unknown[] }): readonly string[] {
  const left = list.count - list.rows.length
  return left > 0 ? [`  and ${left} more`] : []
}
