/**
 * Every text of the pages in English: the source that other languages follow. Names in braces are filled in. A key that
 * ends in `.one` or `.other` is one form of a text with a count.
 */
import { ACCOUNT } from './en/account.ts'
import { DEVICE } from './en/device.ts'
import { ERRORS } from './en/errors.ts'
import { GATEWAY } from './en/gateway.ts'
import { INVITE } from './en/invite.ts'
import { LOGIN } from './en/login.ts'
import { PASSKEYS } from './en/passkeys.ts'

export const en = {
  ...LOGIN,
  ...ERRORS,
  ...ACCOUNT,
  ...INVITE,
  ...DEVICE,
  ...PASSKEYS,
  ...GATEWAY,
} as const

export type TextKey = keyof typeof en
