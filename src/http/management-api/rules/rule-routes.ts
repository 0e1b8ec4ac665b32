/** The routes that policies, signers and CAs have alike: create, list, read, replace, change, delete. API 3.3, D-331. */
import type { z } from 'zod'
import { CreatedReply } from '../../../contract/envelope.ts'
import type { Caller } from '../../../domain/audit/events.ts'
import type { FailureCode } from '../../../errors/catalogue.ts'
import { created, idIn } from '../../edge-api/answers.ts'
import type { Api } from '../../edge-api/api.ts'
import { patched, withDefaults } from '../../edge-api/changed-body.ts'
import { type FieldNames, withFieldNames } from '../../edge-api/field-names.ts'
import type { Body } from '../../reading/body.ts'
import { deferredBody, jsonBody } from '../../reading/declared-body.ts'
import { addReads, type EntityReads } from '../entity-reads.ts'

export interface RuleRoutes<Id extends string, Rule, New extends object, Detail, Shown>
  extends Omit<EntityReads<Id, Detail, Shown>, 'summaries' | 'description'> {
  /** Names for the summaries. `one` has its article. */
  readonly one: string
  readonly many: string
  /** The body that creates a rule. */
  readonly shape: z.ZodType<New>
  readonly create: {
    readonly summary: string
    readonly description?: string
    readonly codes: readonly FailureCode[]
    run(input: New, caller: Caller): Promise<Id>
  }
  /** Names of fields in this body, where the use cases have others. */
  fieldNames?(body: Body): FieldNames
  readonly update: {
    readonly codes: readonly FailureCode[]
    /** Returns a rule as the body that would create it. */
    bodyOf(current: Rule): Readonly<Record<string, unknown>>
    /** Members that a PUT may omit, because they never change. */
    readonly fixed?: readonly (keyof Rule & string)[]
    /** Completes the body of a PATCH. */
    completed?(body: Body): Body
    run(id: Id, change: (current: Rule) => New, caller: Caller): Promise<void>
  }
  readonly remove: {
    readonly codes: readonly FailureCode[]
    run(id: Id, caller: Caller): Promise<void>
  }
}

export function addRuleRoutes<Id extends string, Rule, New extends object, Detail, Shown>(
  api: Api,
  rule: RuleRoutes<Id, Rule, New, Detail, Shown>,
): void {
  const { path, one, many, shape, create, update, remove } = rule
  const onePath = `${path}/:id` as const
  const { fixed = [], completed = (body: Body) => body } = update
  const fieldNames = (body: Body) => rule.fieldNames?.(body) ?? {}

  api.add(
    {
      method: 'POST',
      path,
      access: 'admin',
      summary: create.summary,
      ...(create.description === undefined ? {} : { description: create.description }),
      body: jsonBody(shape),
      answers: { 201: CreatedReply },
      codes: create.codes,
    },
    async ({ body, input, caller }) => {
      const id = await withFieldNames(fieldNames(body), () => create.run(input, caller))
      return created(path.slice(1), id)
    },
  )

  addReads(api, { ...rule, summaries: { list: `List ${many}`, one: `Read ${one}` } })

  api.act(
    {
      method: 'PUT',
      path: onePath,
      access: 'admin',
      summary: `Replace ${one}`,
      body: deferredBody(shape, fixed.length === 0 ? {} : { mayOmit: fixed }),
      codes: update.codes,
    },
    async ({ path, body, input, caller }) => {
      const replaced = (current: Rule) =>
        input(withDefaults(Object.fromEntries(fixed.map((name) => [name, current[name]])), body))
      await withFieldNames(fieldNames(body), () => update.run(idIn(path), replaced, caller))
    },
  )

  api.act(
    {
      method: 'PATCH',
      path: onePath,
      access: 'admin',
      summary: `Change ${one}`,
      body: deferredBody(shape),
      codes: update.codes,
    },
    async ({ path, body, input, caller }) => {
      const changed = (current: Rule) => input(patched(update.bodyOf(current), completed(body)))
      await withFieldNames(fieldNames(body), () => update.run(idIn(path), changed, caller))
    },
  )

  api.act(
    {
      method: 'DELETE',
      path: onePath,
      access: 'admin',
      summary: `Delete ${one}`,
      codes: remove.codes,
    },
    ({ path, caller }) => remove.run(idIn(path), caller),
  )
}
