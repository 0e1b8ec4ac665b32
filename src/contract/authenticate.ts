/** The bodies of POST /authenticate and of calls that take a code: D-51. Unknown fields are ignored (D-4). */
import { z } from 'zod'

export const Authenticate = z.looseObject({
  username: z.string().optional(),
  password: z.string().optional(),
  refresh_token: z
    .string()
    .optional()
    .describe(
      'The refresh token of an earlier session of the same identity. It is not used up: it only proves that the device is ' +
        'known, so that wrong passwords from other networks do not lock it out.',
    ),
  configTypes: z.array(z.string()).optional(),
  envInfo: z
    .unknown()
    .optional()
    .describe('About the machine. Members that cannot be stored are ignored.'),
  sdkInfo: z
    .unknown()
    .optional()
    .describe('About the SDK. Members that cannot be stored are ignored.'),
})

/** For calls that ignore their body, because some clients always send one. */
export const Ignored = z.unknown().describe('Ignored.')

export const Code = z.looseObject({ code: z.string() })

/** The code may be in a header field instead. */
export const OptionalCode = z.looseObject({ code: z.string().optional() })
