/** The bodies of POST /authenticate and of calls that take a code: D-51. Unknown fields are ignored (D-4). */
import { z } from 'zod'

export const Authenticate = z.looseObject({
  username: z.string().optional(),
  password: z.string().optional(),
  refresh_token: z
    .string()
    .optional()
    .describe(
      'Of an earlier session of the same identity. It is not spent: it only shows that the device is known, so that ' +
        'wrong passwords from elsewhere do not keep this one out.',
    ),
  configTypes: z.array(z.string()).optional(),
  envInfo: z.unknown().optional().describe('Of the machine; what cannot be kept is left out.'),
  sdkInfo: z.unknown().optional().describe('Of the SDK; what cannot be kept is left out.'),
})

/** For calls that ignore their body, because some clients always send one. */
export const Ignored = z.looseObject({})

export const Code = z.looseObject({ code: z.string() })

/** The code may be in a header field instead. */
export const OptionalCode = z.looseObject({ code: z.string().optional() })
