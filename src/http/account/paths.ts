/** Where the way into and out of the account pages is. The pages themselves: web/account/layout.ts. */
import { ACCOUNT_PATH } from '../../web/account/layout.ts'

/** The redirect URI of the account's own login (D-161). */
export const CALLBACK_PATH = `${ACCOUNT_PATH}/callback`
export const SIGNED_OUT_PATH = `${ACCOUNT_PATH}/signed-out`
