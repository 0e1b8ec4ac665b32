/** How an entity is described to the command line: resources.ts has the descriptions. */
import type { Column } from './columns.ts'
import type { Body, Field, OptionValues, ResourceName } from './fields.ts'

export interface Resource {
  readonly one: ResourceName
  readonly many: string
  /** Below the management API. */
  readonly path: string
  /** What it is called by besides its id: a field of its own, or the identity that it belongs to. */
  readonly names: readonly ('name' | 'username' | 'identity')[]
  /** Which of those that a name fits it stands for: a filter. Without it, any. */
  readonly open?: string
  readonly columns: readonly Column[]
  readonly create?: Creation
  readonly update?: Change
  /** What `delete` does to it, as a question begins with it. */
  readonly remove: string
}

export interface Creation {
  readonly what: string
  /** Whether its name stands behind the words of the command. */
  readonly isNamed: boolean
  readonly fields: readonly Field[]
  /** What the body has before anything is given. */
  readonly defaults: Body
  /** What only all options together say. Thrown: Misuse. */
  readonly complete?: (body: Body, values: OptionValues) => Body
  readonly examples: readonly string[]
}

export interface Change {
  readonly what: string
  readonly fields: readonly Field[]
  /** Default: PATCH of the entity itself. */
  readonly call?: { readonly method: 'POST'; readonly action: string }
  /** Whether it can be called without any field. */
  readonly needsNothing?: true
  readonly examples: readonly string[]
}
