/** Every text of the pages in German. Users are addressed as „Sie“. The English files say what each text is for. */
import { ACCOUNT } from './de/account.ts'
import { DEVICE } from './de/device.ts'
import { ERRORS } from './de/errors.ts'
import { GATEWAY } from './de/gateway.ts'
import { INVITE } from './de/invite.ts'
import { LOGIN } from './de/login.ts'
import { PASSKEYS } from './de/passkeys.ts'
import type { TextKey } from './en.ts'

export const de: Readonly<Record<TextKey, string>> = {
  ...LOGIN,
  ...ERRORS,
  ...ACCOUNT,
  ...INVITE,
  ...DEVICE,
  ...PASSKEYS,
  ...GATEWAY,
}
