/** The type of the entity descriptions for the command line; resources.ts has the descriptions. */
import type { EdgeApi } from '../../api/edge-api.ts'
import type { NamedEntity, Options } from '../../table/command.ts'
import type { Column } from './columns.ts'
import type { Body, Field, OptionValues } from './fields.ts'

export interface Resource {
  readonly one: NamedEntity
  readonly many: string
  /** Relative to the management API. */
  readonly path: string
  /** What identifies it besides its id: one of its fields, or the identity that it belongs to. */
  readonly names: readonly ('name' | 'username' | 'identity')[]
  /** A filter for the entities that a name can refer to. Without it, all of them. */
  readonly open?: string
  readonly columns: readonly Column[]
  readonly create?: Creation
  readonly update?: Change
  /** What `delete` does to it; the confirmation question starts with this. */
  readonly remove: string
}

export interface Creation {
  readonly what: string
  /** Whether its name is an operand of the command. */
  readonly isNamed: boolean
  readonly fields: readonly Field[]
  /** The body before any options are applied. */
  readonly defaults: Body
  /** Options of the command that are not fields of the entity. */
  readonly options?: Options
  /** Asks the service for what the options leave out. */
  readonly propose?: (api: EdgeApi, values: OptionValues) => Promise<Body>
  /** Completes the body from several options together. Throws Misuse. */
  readonly complete?: (body: Body, values: OptionValues) => Body
  /** Whether the answer may have a link to hand over. */
  readonly invites?: true
  readonly examples: readonly string[]
}

export interface Change {
  readonly what: string
  readonly fields: readonly Field[]
  /** Default: PATCH of the entity itself. */
  readonly call?: { readonly method: 'POST'; readonly action: string }
  /** Whether it can be called without any field. */
  readonly needsNothing?: true
  /** Whether the answer has a link to hand over. */
  readonly invites?: true
  readonly examples: readonly string[]
}
