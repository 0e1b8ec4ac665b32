/** API sessions as administrators see them, which is how callers see their own: API 4.7. */
import { z } from 'zod'
import { CurrentApiSession } from '../current-api-session.ts'
import { detail, list } from '../envelope.ts'

/** POST /api-sessions/end-all: requires a confirmation, so that it is not called by accident. */
export const EndAll = z.strictObject({ confirm: z.literal(true) })

export const ApiSessionReply = detail(CurrentApiSession)
export const ApiSessionListReply = list(CurrentApiSession)
