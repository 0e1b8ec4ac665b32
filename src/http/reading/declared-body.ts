/** The kinds of body that API routes declare: which content types they accept, and how to parse them. D-11, D-266. */
import type { z } from 'zod'
import type { Body, Reads } from './body.ts'

export type DeclaredBody = JsonBody | DeferredBody | FieldsBody

/** JSON of this shape. Parsed before the handler runs, which gets it as `input`. */
export interface JsonBody<S extends z.ZodType = z.ZodType> {
  readonly kind: 'json'
  readonly reads: readonly Reads[]
  readonly shape: S
}

/**
 * JSON that the handler parses by calling `input(body)`. A PUT or PATCH is validated against the existing entity, in
 * the transaction that changes it (D-121).
 */
export interface DeferredBody<S extends z.ZodType = z.ZodType> {
  readonly kind: 'deferred'
  readonly reads: readonly Reads[]
  readonly shape: S
  /** Members that the shape requires but this call does not. */
  readonly mayOmit?: readonly string[]
  /** Takes the body of a PATCH, under another method. */
  readonly isPatch?: true
}

/** Single fields, read by the handler; the shape is only documentation. Unknown fields are ignored (D-4). */
export interface FieldsBody {
  readonly kind: 'fields'
  readonly reads: readonly Reads[]
  readonly shape?: z.ZodType
  /** Describes the content of a text body. */
  readonly text?: string
}

export function jsonBody<S extends z.ZodType>(shape: S): JsonBody<S> {
  return { kind: 'json', reads: ['json'], shape }
}

export function deferredBody<S extends z.ZodType>(
  shape: S,
  options: Pick<DeferredBody, 'mayOmit' | 'isPatch'> = {},
): DeferredBody<S> {
  return { kind: 'deferred', reads: ['json'], shape, ...options }
}

export function fieldsBody(
  shape: z.ZodType,
  options: Partial<Pick<FieldsBody, 'reads' | 'text'>> = {},
): FieldsBody {
  return { kind: 'fields', reads: ['json', 'form'], shape, ...options }
}

export function textBody(text: string): FieldsBody {
  return { kind: 'fields', reads: ['text'], text }
}

/** What the handler of a route gets as `input`. */
export type InputOf<B> =
  B extends JsonBody<infer S>
    ? z.output<S>
    : B extends DeferredBody<infer S>
      ? (body: Body) => z.output<S>
      : undefined
