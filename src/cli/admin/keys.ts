/** `latchkey keys list`, and `keys rotate` over the API. API 3.3, D-23, D-135. */
import { SessionEnded } from '../../client/client.ts'
import { SIGNING_KEY } from '../../entities/signing-key.ts'
import { openAnonymous } from '../api/open-anonymous.ts'
import { openApi, type SessionValues } from '../api/open-api.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'
import { printJson } from '../terminal/output.ts'
import { tableOf } from './entities/described-resource.ts'
import { listAll } from './entities/list-entities.ts'
import { type NewKey, printNewKeys } from './new-keys.ts'
import {
  askForProof,
  askWithoutSession,
  secondsOf,
  type WaitValues,
} from './sessions/confirmations.ts'

const PATH = '/signing-keys'

export const listKeys = listAll(PATH, tableOf(SIGNING_KEY))

export async function rotateKeysByApi(
  values: SessionValues & WaitValues & { readonly 'revoke-now'?: boolean },
  io: Io,
): Promise<ExitCode> {
  const revokeNow = values['revoke-now'] === true
  const seconds = secondsOf(values)
  const api = await openApi(values, io)
  const anonymous = await openAnonymous(values, io)
  const made = await api.send('POST', PATH, { revokeNow })
  // The answer names the keys: after --revoke-now our own token is rejected, and could not fetch them.
  if (values.json !== true) {
    printNewKeys(io, made['keys'] as readonly NewKey[], revokeNow ? 'older-keys' : 'nothing')
  }
  const ending = api.takeEnding()
  const proof =
    seconds === undefined
      ? undefined
      : await askForProof({ ...api, takeEnding: () => ending }, seconds).catch((error) => {
          // A session without a refresh token ends with its access token.
          if (error instanceof SessionEnded) return askWithoutSession(anonymous, ending, seconds)
          throw error
        })
  if (values.json === true) {
    printJson(io, proof === undefined ? made : { ...made, confirmations: proof.confirmations })
  } else for (const line of proof?.lines ?? []) io.out(line)
  return proof === undefined || proof.isConfirmed ? EXIT.ok : EXIT.unconfirmed
}
