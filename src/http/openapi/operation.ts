/**
 * What readers of an API are told about one call, beyond what its route declares: what it does, which shapes of the
 * contract it takes and answers, and which refusals are its own. `document.ts` puts both together.
 */
import type { z } from 'zod'
import type { FailureCode } from '../../errors/catalogue.ts'

export interface Operation {
  /** One sentence in the imperative, without a full stop. */
  readonly summary: string
  readonly description?: string
  /** The group that it stands in; left out: the first part of its path. */
  readonly tag?: string
  /** Parameters of the query beyond those of a list; none is required. */
  readonly query?: Parameters
  readonly headers?: Parameters
  /** Parts of the path that are not the id of an entity. */
  readonly path?: Parameters
  /** The JSON body. Of a PATCH: what it is judged by once it is merged into what is there (RFC 7396). */
  readonly request?: z.ZodType
  /** Members that the shape requires and this call does not. */
  readonly mayOmit?: readonly string[]
  /** A text body: what it holds. */
  readonly text?: string
  /** The body of a success: a shape, or content of other types, by what it is. */
  readonly reply: z.ZodType | OtherContent
  /** Header fields of a success, besides those of every answer. */
  readonly replyHeaders?: readonly string[]
  /** It is a list: API 2. */
  readonly isList?: boolean
  /** Refusals of its own, besides those that follow from who may call it and what it reads. */
  readonly codes?: readonly FailureCode[]
}

/** Name → what it is. */
type Parameters = Readonly<Record<string, string>>

export interface OtherContent {
  readonly types: readonly string[]
  readonly about: string
}

/** By method and path below the API's prefix: `GET /identities/:id`. */
export type Operations = Readonly<Record<string, Operation>>

export function isShape(reply: Operation['reply']): reply is z.ZodType {
  return !('about' in reply)
}
