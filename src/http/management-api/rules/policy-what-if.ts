/** POST /auth-policies/{id}/what-if: what a change would do, without making it. API 3.3, D-365. */
import { toRfc3339 } from '../../../base/time/instant.ts'
import { NewAuthPolicy } from '../../../contract/management/auth-policies.ts'
import * as contract from '../../../contract/management/auth-policy-preview.ts'
import { refusalSentence } from '../../../domain/management/what-if/judge-sessions.ts'
import {
  type PolicyPreview,
  previewPolicy,
  type WhatIfPorts,
} from '../../../domain/management/what-if/preview-policy.ts'
import { found, idIn } from '../../edge-api/answers.ts'
import type { Api } from '../../edge-api/api.ts'
import { withFieldNames } from '../../edge-api/field-names.ts'
import { deferredBody } from '../../reading/declared-body.ts'
import { patchedPolicy, spellingIn } from './auth-policies.ts'

export function addPolicyWhatIf(api: Api, ports: WhatIfPorts): void {
  api.add(
    {
      method: 'POST',
      path: '/auth-policies/:id/what-if',
      access: 'admin',
      summary: 'Preview a change of an authentication policy',
      description:
        'Takes the body of a PATCH and changes nothing. Reports who could no longer sign in and why, who would have to set up a second factor, and which sessions would end. Of a large number of identities, the first 20 000 are judged.',
      body: deferredBody(NewAuthPolicy, { isPatch: true }),
      answers: { 200: contract.PolicyPreviewReply },
      codes: ['ENTITY_NAME_IN_USE'],
    },
    async ({ path, body, input, caller }) => {
      const change = patchedPolicy(body, input)
      const preview = await withFieldNames(spellingIn(body), () =>
        previewPolicy(ports, idIn(path), change, caller),
      )
      return found(previewBody(preview))
    },
  )
}

function previewBody(preview: PolicyPreview): contract.PolicyPreview {
  const { changed, refusal, identities, lockedOut, alreadyUnable, mustEnroll, sessions } = preview
  const { live, ending, restricted } = sessions
  return {
    changed: [...changed],
    refusal: refusal ?? null,
    identities,
    lockedOut: {
      count: lockedOut.count,
      rows: lockedOut.rows.map(({ because, ...identity }) => ({
        ...identity,
        because: because.map((one) => ({ ...one, message: refusalSentence(one.reason) })),
      })),
    },
    alreadyUnable,
    mustEnroll: { count: mustEnroll.count, rows: [...mustEnroll.rows] },
    sessions: {
      live,
      ending: {
        count: ending.count,
        rows: ending.rows.map(({ createdAt, ...session }) => ({
          ...session,
          createdAt: toRfc3339(createdAt),
          message: refusalSentence(session.reason),
        })),
      },
      restricted,
    },
  }
}
