/** GET /gateways, on the client API: D-425. */
import { GatewaysReply } from '../../../contract/gateways.ts'
import type { CallPorts } from '../../../domain/calls/ports.ts'
import { listGateways } from '../../../domain/calls/routers/list-gateways.ts'
import { found } from '../answers.ts'
import type { Api } from '../api.ts'

export function addGateways(api: Api, ports: Pick<CallPorts, 'rules' | 'clock'>): void {
  api.add(
    {
      method: 'GET',
      path: '/gateways',
      access: 'session',
      summary: 'List the gateways of the network, and where each is reached',
      answers: { 200: GatewaysReply },
    },
    () =>
      found(listGateways(ports).map(({ id, name, hosts }) => ({ id, name, hosts: [...hosts] }))),
  )
}
