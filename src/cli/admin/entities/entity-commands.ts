/**
 * `list`, `get`, `create`, `update` and `delete` of everything that an administrator manages: one command for each verb
 * and entity, generated from the description of the entity.
 */
import { SESSION_OPTIONS } from '../../contexts/session-options.ts'
import { type Command, commandFor, type Operand } from '../../table/command.ts'
import type { Io } from '../../terminal/io.ts'
import { BODY, QR, WAIT, YES } from '../options.ts'
import type { ConfirmedValues } from './delete-entity.ts'
import { optionsOf } from './fields.ts'
import type { ListValues } from './list-entities.ts'
import type { Resource } from './resource.ts'
import { RESOURCES } from './resources.ts'

const command = commandFor('administrator', SESSION_OPTIONS)

const LIST = {
  filter: { value: 'FILTER', what: `which ones, such as 'name contains "a"' (docs/lists.md)` },
  sort: { value: 'FIELDS', what: "in which order, such as 'createdAt desc'" },
  limit: { value: 'N', what: 'how many; at most 500' },
  offset: { value: 'N', what: 'how many to skip' },
  all: { what: 'all pages' },
} as const

const OF_IDENTITY = {
  identity: { value: 'NAME', names: 'identity', what: 'only those of this identity' },
} as const

const WITH_ROLE = {
  role: { value: 'ROLE', what: 'only those with this role attribute' },
} as const

/** Deleting one of these ends sessions or certificates. */
const ENDS: readonly string[] = ['identity', 'authenticator', 'session']

const NAMES = RESOURCES.map(({ one }) => one)
const CREATED = RESOURCES.filter(({ create }) => create).map(({ one }) => one)
const UPDATED = RESOURCES.filter(({ update }) => update).map(({ one }) => one)
const LISTED = RESOURCES.map(({ many }) => many)

/** The line for one verb in the full help. */
const FAMILIES = {
  list: family('list ENTITIES', LISTED),
  get: family('get ENTITY', NAMES),
  create: family('create ENTITY', CREATED),
  update: family('update ENTITY', UPDATED),
  delete: family('delete ENTITY', NAMES),
}

export const ENTITY_COMMANDS: readonly Command[] = [
  ...RESOURCES.map(listCommand),
  ...RESOURCES.map(getCommand),
  ...RESOURCES.flatMap(createCommand),
  ...RESOURCES.flatMap(updateCommand),
  ...RESOURCES.map(deleteCommand),
]

function family(words: string, entities: readonly string[]) {
  const [verb = ''] = words.split(' ', 1)
  return { words, what: `${verb} ${entities.join(', ')}` }
}

/** The placeholder for an entity in the help. */
function operandOf({ one, names }: Resource): Operand {
  return { name: names.includes('name') ? 'NAME' : 'ID', names: one }
}

function exampleOf({ one, names }: Resource): string {
  if (one === 'policy') return 'strict'
  if (one === 'signer') return 'partner-idp'
  if (one === 'ca') return 'factory'
  return names.includes('identity') ? 'laptop-7' : 'alice'
}

function listCommand(resource: Resource): Command {
  const { many, names } = resource
  const isOwned = names.includes('identity')
  const described = {
    words: `list ${many}`,
    family: FAMILIES.list,
    what: `list ${many}`,
    examples: [
      `latchkey list ${many}`,
      isOwned
        ? `latchkey list ${many} --identity alice`
        : `latchkey list ${many} --filter 'name icontains "a"' --sort 'createdAt desc'`,
      `latchkey list ${many} --all --json`,
    ],
    load: async () => {
      const { listEntities } = await import('./list-entities.ts')
      return (values: ListValues, io: Io) => listEntities(resource, values, io)
    },
  } as const
  if (many === 'identities') return command({ ...described, options: { ...WITH_ROLE, ...LIST } })
  return isOwned
    ? command({ ...described, options: { ...OF_IDENTITY, ...LIST } })
    : command({ ...described, options: LIST })
}

function getCommand(resource: Resource): Command {
  const { one } = resource
  return command({
    words: `get ${one}`,
    family: FAMILIES.get,
    what: `show all of one ${one}`,
    operands: [operandOf(resource)],
    examples: [`latchkey get ${one} ${exampleOf(resource)}`],
    load: async () => {
      const { getEntity } = await import('./list-entities.ts')
      return (values, io, [name = '']) => getEntity(resource, name, values, io)
    },
  })
}

function createCommand(resource: Resource): readonly Command[] {
  const { one, create } = resource
  if (create === undefined) return []
  return [
    command({
      words: `create ${one}`,
      family: FAMILIES.create,
      what: create.what,
      operands: create.isNamed ? [{ name: 'NAME', isOptional: true }] : [],
      options: {
        ...create.options,
        ...optionsOf(create.fields),
        ...(create.invites === true ? QR : {}),
        ...BODY,
      },
      examples: create.examples,
      load: async () => {
        const { createEntity } = await import('./write-entity.ts')
        return (values, io, [name]) => createEntity(resource, create, name, values, io)
      },
    }),
  ]
}

function updateCommand(resource: Resource): readonly Command[] {
  const { one, update } = resource
  if (update === undefined) return []
  return [
    command({
      words: `update ${one}`,
      family: FAMILIES.update,
      what: update.what,
      operands: [operandOf(resource)],
      options: {
        ...optionsOf(update.fields),
        ...(update.invites === true ? QR : {}),
        ...BODY,
      },
      examples: update.examples,
      load: async () => {
        const { updateEntity } = await import('./write-entity.ts')
        return (values, io, [name = '']) => updateEntity(resource, update, name, values, io)
      },
    }),
  ]
}

function deleteCommand(resource: Resource): Command {
  const { one, many, remove } = resource
  const described = {
    words: `delete ${one}`,
    family: FAMILIES.delete,
    what: `${remove.toLowerCase()} one or several ${many}`,
    operands: [{ ...operandOf(resource), isList: true }],
    examples: [`latchkey delete ${one} ${exampleOf(resource)} --yes`],
    load: async () => {
      const { deleteEntity } = await import('./delete-entity.ts')
      return (values: ConfirmedValues, io: Io, names: readonly string[]) =>
        deleteEntity(resource, names, values, io)
    },
  } as const
  return ENDS.includes(one)
    ? command({ ...described, options: { ...WAIT, ...YES } })
    : command({ ...described, options: YES })
}
