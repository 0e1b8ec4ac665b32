/** A service with several workers, and a client that knows which of them answers. */
import https from 'node:https'
import type { TestContext } from 'node:test'
import { httpClient } from '../http-client.ts'
import { fixPort, useWorkers } from '../process/child-home.ts'
import { type ChildService, startChild, waitFor } from '../process/child-service.ts'
import { preparedHome } from '../process/prepared-home.ts'

/** The service as seen over one connection, which one worker has. */
export interface WorkerView extends Pick<ChildService, 'baseUrl' | 'call'> {
  readonly worker: number
  readonly pid: number
}

/** In a home of its own, or in the given one, at a port that stays. */
export async function startWorkers(
  t: TestContext,
  workers: number,
  given: { readonly home?: string; readonly keepsPort?: boolean } = {},
): Promise<ChildService> {
  const home = given.home ?? (await preparedHome(t))
  if (given.keepsPort !== true) await fixPort(home)
  await useWorkers(home, workers)
  const service = await startChild(t, { home })
  // The log may be behind what the service has printed.
  await waitFor(
    () => workers === 1 || workerPids(service).size === workers,
    () => 'a line for each worker',
    service,
  )
  return service
}

/** The processes of the workers that were ready last, by their number. */
export function workerPids({ logLines }: Pick<ChildService, 'logLines'>): Map<number, number> {
  return new Map(
    logLines()
      .filter(({ msg }) => msg === 'a worker is ready')
      .map(({ startedWorker, pid }) => [startedWorker, pid]),
  )
}

/** One connection to each worker. */
export async function eachWorker(t: TestContext, service: ChildService): Promise<WorkerView[]> {
  const pids = workerPids(service)
  const views = new Map<number, WorkerView>()
  while (views.size < pids.size) {
    const agent = new https.Agent({ ca: service.ca, keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    const { call } = httpClient(service.ca)
    const view = {
      baseUrl: service.baseUrl,
      call: (path: string, options = {}) =>
        call(`${service.baseUrl}${path}`, { ...options, agent }),
    }
    const worker = await workerOf(service, view)
    views.set(worker, { ...view, worker, pid: pids.get(worker) ?? 0 })
  }
  return [...views.values()].sort((a, b) => a.worker - b.worker)
}

/** Which worker answers over this connection, by the log line of a request. */
async function workerOf(
  service: ChildService,
  { call }: Pick<ChildService, 'call'>,
): Promise<number> {
  const requestId = (await call('/version')).headers['x-request-id']
  const line = () => service.logLines().find((one) => one.requestId === requestId)
  await waitFor(
    () => line() !== undefined,
    () => `the log line of request ${requestId}`,
    service,
  )
  return line().worker
}
