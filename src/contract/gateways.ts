/** GET /gateways: where gateways are reached. D-425. */
import { z } from 'zod'
import { detail } from './envelope.ts'

export const GatewaysReply = detail(
  z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      hosts: z
        .array(z.string())
        .describe(
          '`HOST` or `HOST:PORT`, as its administrator wrote them; the first is the preferred one.',
        ),
    }),
  ),
)
