/** API sessions as an administrator sees them, which is as their callers do: API 4.7. */
import { z } from 'zod'
import { CurrentApiSession } from '../current-api-session.ts'
import { detail, list } from '../envelope.ts'

/** POST /api-sessions/end-all: not by accident. */
export const EndAll = z.strictObject({ confirm: z.literal(true) })

export const ApiSessionReply = detail(CurrentApiSession)
export const ApiSessionListReply = list(CurrentApiSession)
