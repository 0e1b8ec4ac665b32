/**
 * What existing clients ask a controller of a whole network, answered truthfully: there are no services, routers,
 * controllers and configuration types here. D-318.
 */
import { z } from 'zod'
import { type Instant, toRfc3339 } from '../../base/time/instant.ts'
import { detail, Links, Timestamp } from '../../contract/envelope.ts'
import type { ListQuery } from '../../domain/lists/list-query.ts'
import type { ManagementPorts } from '../../domain/management/ports.ts'
import { orNotFound } from '../../domain/refusals.ts'
import { IDENTITY } from '../../entities/identity.ts'
import { json } from '../answer.ts'
import { found, selfLink } from '../edge-api/answers.ts'
import type { Api } from '../edge-api/api.ts'
import type { Access } from '../route.ts'

const NONE = 'There are none: this service authenticates, and manages no network.'

export function addClientLists(api: Api, { clock }: Pick<ManagementPorts, 'clock'>): void {
  for (const path of ['/services', '/current-identity/edge-routers', '/controllers'] as const) {
    addEmptyList(api, path, 'session')
  }
  addServiceUpdates(api, clock.now())
}

export function addManagementLists(api: Api, ports: ManagementPorts): void {
  for (const path of ['/services', '/edge-routers', '/config-types', '/controllers'] as const) {
    addEmptyList(api, path, 'admin')
  }
  addIdentityTypes(api)
  addSummary(api, ports)
}

const ListReply = z.object({
  data: z.array(z.unknown()),
  meta: z.object({ filterableFields: z.array(z.string()), pagination: z.unknown() }),
})

function listOf(data: readonly unknown[], query: ReadonlyMap<string, readonly string[]>) {
  const number = (name: string, other: number) => {
    const value = Number(query.get(name)?.[0] ?? other)
    return Number.isInteger(value) && value >= 0 ? value : other
  }
  const pagination = {
    limit: number('limit', 10),
    offset: number('offset', 0),
    totalCount: data.length,
  }
  return json(200, { data: [...data], meta: { filterableFields: [], pagination } })
}

const PAGING = { limit: 'How many.', offset: 'From where.', filter: 'Ignored.', sort: 'Ignored.' }

function addEmptyList(api: Api, path: `/${string}`, access: Access & ('session' | 'admin')): void {
  api.add(
    {
      method: 'GET',
      path,
      access,
      tag: 'compatibility',
      summary: 'List nothing',
      description: NONE,
      query: PAGING,
      answers: { 200: ListReply },
    },
    ({ query }) => listOf([], query),
  )
}

/** Clients read the services again when this changes, which it never does while the service runs. */
function addServiceUpdates(api: Api, startedAt: Instant): void {
  api.add(
    {
      method: 'GET',
      path: '/current-api-session/service-updates',
      access: 'session',
      tag: 'compatibility',
      summary: 'Read when services last changed',
      answers: { 200: detail(z.object({ lastChangeAt: Timestamp })) },
    },
    () => found({ lastChangeAt: toRfc3339(startedAt) }),
  )
}

const IdentityType = z.object({
  id: z.string(),
  name: z.string(),
  tags: z.object({}),
  _links: Links,
})

function addIdentityTypes(api: Api): void {
  const types = IDENTITY.type.choices.map((name) => {
    return { id: name, name, tags: {}, _links: selfLink(`identity-types/${name}`) }
  })
  api.add(
    {
      method: 'GET',
      path: '/identity-types',
      access: 'admin',
      tag: 'compatibility',
      summary: 'List the types of identities',
      query: PAGING,
      answers: { 200: ListReply },
    },
    ({ query }) => listOf(types, query),
  )

  // The address that their links name.
  api.add(
    {
      method: 'GET',
      path: '/identity-types/:id',
      access: 'admin',
      tag: 'compatibility',
      summary: 'Read a type of identities',
      answers: { 200: detail(IdentityType) },
    },
    ({ path }) => found(orNotFound(types.find(({ id }) => id === path.id))),
  )
}

const ONE: ListQuery = { limit: 1, offset: 0 }

function addSummary(api: Api, ports: ManagementPorts): void {
  api.add(
    {
      method: 'GET',
      path: '/summary',
      access: 'admin',
      tag: 'compatibility',
      summary: 'Count the entities',
      answers: { 200: detail(z.record(z.string(), z.int())) },
    },
    async () => {
      const { rules, clock } = ports
      const [apiSessions, authenticators, enrollments, identities] = await Promise.all([
        ports.apiSessions.list({ of: undefined, at: clock.now() }, ONE),
        ports.authenticators.list(ONE),
        ports.enrollments.list(ONE),
        ports.identities.list(ONE),
      ])
      return found({
        ...{ services: 0, edgeRouters: 0, configTypes: 0, configs: 0, sessions: 0 },
        apiSessions: apiSessions.totalCount,
        authPolicies: (await ports.authPolicies.list()).length,
        authenticators: authenticators.totalCount,
        cas: rules.cas().length,
        enrollments: enrollments.totalCount,
        externalJwtSigners: rules.signers().length,
        identities: identities.totalCount,
      })
    },
  )
}
