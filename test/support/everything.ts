/** A service with one listener that has every API bound, and the routes of that listener. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { BINDINGS } from '../../src/config/config.ts'
import type { Route } from '../../src/http/route.ts'
import { type Service, type ServiceOptions, startService } from './service.ts'

export interface Everything {
  readonly service: Service
  readonly routes: readonly Route[]
}

export async function startWithEverything(
  t: TestContext,
  options: ServiceOptions = {},
): Promise<Everything> {
  const service = await startService(t, {
    ...options,
    config: {
      web: [
        {
          name: 'everything',
          bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
          apis: BINDINGS.map((binding) => ({ binding })),
        },
      ],
      ...options.config,
    },
  })
  const [listener] = service.instance.listeners
  assert.ok(listener !== undefined)
  return { service, routes: listener.routes }
}

/** Returns the path with its parameters replaced by an id that does not exist. */
export const addressOf = ({ url }: Pick<Route, 'url'>) => url.replaceAll(/:\w+/g, 'nothing')

/** Whether the route accepts a caller without credentials. */
export const isAnonymous = ({ access }: Pick<Route, 'access'>) =>
  access === 'public' || access === 'login'
