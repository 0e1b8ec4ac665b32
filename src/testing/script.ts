/**
 * When the bad days of a script begin: at once, or after a login, a refresh or a number of requests. Read from untrusted
 * JSON by the command, or given by a test.
 */
import { isScenarioName, type ScenarioName } from './bad-days.ts'
import type { SeenRequest } from './interceptor.ts'

export interface ScriptStep {
  readonly scenario: ScenarioName
  readonly after: Moment
}

/** `start`: before the first request. A number: after so many requests. */
export type Moment = 'start' | 'login' | 'refresh' | number

const MOST_STEPS = 100

/** Throws a TypeError that says which step is wrong. */
export function readScript(value: unknown): readonly ScriptStep[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw new TypeError(
      'a script must be a JSON array of steps, such as [{"after": "login", "scenario": "cut"}]',
    )
  }
  if (value.length > MOST_STEPS) throw new TypeError(`a script has at most ${MOST_STEPS} steps`)
  return value.map((step: unknown, i) => {
    const members: object = typeof step === 'object' && step !== null ? step : {}
    const { scenario, after = 'login', ...rest } = members as Readonly<Record<string, unknown>>
    const where = `step ${i + 1} of the script`
    const [unknown] = Object.keys(rest)
    if (unknown !== undefined)
      throw new TypeError(`${where} has an unknown member ${JSON.stringify(unknown.slice(0, 40))}`)
    if (typeof scenario !== 'string' || !isScenarioName(scenario)) {
      throw new TypeError(`${where} names no scenario; --list shows them`)
    }
    if (!isMoment(after)) {
      throw new TypeError(
        `${where}: "after" must be "start", "login", "refresh" or a number of requests from 1 to 1000000`,
      )
    }
    return { scenario, after }
  })
}

function isMoment(value: unknown): value is Moment {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 1 && value <= 1_000_000
  return value === 'start' || value === 'login' || value === 'refresh'
}

/** Counts what has been answered, and says which steps are due. Each step is due once. */
export function followScript(steps: readonly ScriptStep[]) {
  let open = [...steps]
  let requests = 0

  function take(isDue: (after: Moment) => boolean): readonly ScenarioName[] {
    const due = open.filter(({ after }) => isDue(after))
    open = open.filter(({ after }) => !isDue(after))
    return due.map(({ scenario }) => scenario)
  }

  return {
    atStart: () => take((after) => after === 'start'),
    answered(request: SeenRequest, status: number): readonly ScenarioName[] {
      requests += 1
      const isDone = status === 200
      const isLogin =
        isDone && (request.grantType === 'authorization_code' || isLegacyLogin(request))
      const isRefresh = isDone && request.grantType === 'refresh_token'
      return take(
        (after) =>
          (after === 'login' && isLogin) ||
          (after === 'refresh' && isRefresh) ||
          (typeof after === 'number' && requests >= after),
      )
    },
  }
}

const isLegacyLogin = ({ method, path }: SeenRequest) =>
  method === 'POST' && /^\/edge\/(client|management)\/v1\/authenticate$/.test(path)
