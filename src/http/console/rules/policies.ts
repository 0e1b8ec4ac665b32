/** /console/policies: policies, with a preview before a change is saved. API 4.4, D-365. */
import type { AuthPolicyId } from '../../../base/ids.ts'
import { NewAuthPolicy as Contract } from '../../../contract/management/auth-policies.ts'
import {
  createPolicy,
  deletePolicy,
  findPolicy,
  type NewAuthPolicy,
  updatePolicy,
} from '../../../domain/management/manage-policies.ts'
import { refusalSentence } from '../../../domain/management/what-if/judge-sessions.ts'
import { previewPolicy } from '../../../domain/management/what-if/preview-policy.ts'
import {
  type AuthPolicy,
  isBuiltIn,
  POLICY_DEFAULTS,
} from '../../../domain/policies/auth-policy.ts'
import { factorDemands } from '../../../protocol/factors/second-factors.ts'
import { POLICIES_PATH, policyPath } from '../../../web/console/navigation.ts'
import {
  newPolicyPage,
  policiesPage,
  policyPage,
} from '../../../web/console/rules/policies-page.ts'
import type { PolicyValues } from '../../../web/console/rules/policy-form.ts'
import { policyPreviewPage } from '../../../web/console/rules/policy-preview-page.ts'
import { readBody } from '../../edge-api/read-body.ts'
import { chosenOf } from '../../management-api/rules/auth-policies.ts'
import type { Fields } from '../../reading/fields.ts'
import { backTo, type ConsoleCall, type ConsoleRoutes, consolePage } from '../console-route.ts'
import type { ConsolePorts } from '../ports.ts'
import { valuesLike, wholeIn } from './form-fields.ts'
import { orAgain } from './or-again.ts'
import { readTags, writeTags } from './tags-text.ts'

const ONE = `${POLICIES_PATH}/:id`

export function addPolicyScreens(routes: ConsoleRoutes, ports: ConsolePorts): void {
  const signers = async () =>
    (await ports.externalJwtSigners.list()).map(({ id, name }) => ({ id, name }))
  const policyIn = ({ head }: ConsoleCall) => findPolicy(ports, head.path['id'] as AuthPolicyId)

  routes.show(POLICIES_PATH, async ({ frame }) => {
    const policies = await ports.authPolicies.list()
    const rows = await Promise.all(
      policies.map(async (policy) => ({
        ...valuesOf(policy),
        id: policy.id,
        isBuiltIn: isBuiltIn(policy.id),
        identities: await ports.identities.countWithPolicy(policy.id),
      })),
    )
    return policiesPage(frame, rows)
  })

  routes.show(`${POLICIES_PATH}/new`, async ({ frame }) =>
    newPolicyPage(frame, { values: NEW_POLICY, signers: await signers() }),
  )

  const newPage = async ({ frame }: ConsoleCall, fields: Fields, error?: string) =>
    newPolicyPage(frame, {
      values: valuesLike(NEW_POLICY, fields),
      signers: await signers(),
      error,
    })

  routes.act(
    { url: POLICIES_PATH, page: `${POLICIES_PATH}/new`, needs: 'fresh-login', again: newPage },
    async (call, fields) => {
      const values = valuesLike(NEW_POLICY, fields)
      return orAgain(
        async () => {
          const id = await createPolicy(ports, chosenIn(values), call.caller)
          return backTo(policyPath(id), 'policy-created')
        },
        (error) => newPage(call, fields, error),
      )
    },
  )

  async function onePage(call: ConsoleCall, values?: PolicyValues, error?: string) {
    const policy = await policyIn(call)
    const { id, name } = policy
    return policyPage(call.frame, {
      id,
      name,
      identities: await ports.identities.countWithPolicy(id),
      isBuiltIn: isBuiltIn(id),
      values: values ?? valuesOf(policy),
      signers: await signers(),
      error,
    })
  }

  routes.show(ONE, (call) => onePage(call))

  routes.act({ url: `${ONE}/preview`, page: ONE, needs: 'session' }, async (call, fields) => {
    const values = valuesLike(NEW_POLICY, fields)
    const { id, name } = await policyIn(call)
    return orAgain(
      async () => {
        const change = () => chosenIn(values)
        const preview = await previewPolicy(ports, id, change, call.caller)
        const { lockedOut, sessions } = preview
        return consolePage(
          200,
          policyPreviewPage(call.frame, {
            ...preview,
            id,
            name,
            values,
            isRefused: preview.refusal !== undefined,
            lockedOut: {
              count: lockedOut.count,
              rows: lockedOut.rows.map(({ because, ...one }) => ({
                ...one,
                why: because
                  .map(({ method, reason }) => `${method}: ${refusalSentence(reason)}`)
                  .join(' '),
              })),
            },
            ending: {
              count: sessions.ending.count,
              rows: sessions.ending.rows.map((one) => ({
                ...one,
                why: refusalSentence(one.reason),
              })),
            },
            live: sessions.live,
            restricted: sessions.restricted,
          }),
        )
      },
      (error) => onePage(call, values, error),
    )
  })

  const again = (call: ConsoleCall, fields: Fields) => onePage(call, valuesLike(NEW_POLICY, fields))

  routes.act({ url: ONE, page: ONE, needs: 'fresh-login', again }, async (call, fields) => {
    const values = valuesLike(NEW_POLICY, fields)
    const { id } = await policyIn(call)
    return orAgain(
      async () => {
        await updatePolicy(ports, id, () => chosenIn(values), call.caller)
        return backTo(policyPath(id), 'policy-changed')
      },
      (error) => onePage(call, values, error),
    )
  })

  routes.act({ url: `${ONE}/delete`, page: ONE, needs: 'fresh-login' }, async (call) => {
    await deletePolicy(ports, (await policyIn(call)).id, call.caller)
    return backTo(POLICIES_PATH, 'policy-deleted')
  })
}

const NEW_POLICY: PolicyValues = {
  name: '',
  allowPassword: true,
  minPasswordLength: String(POLICY_DEFAULTS.minPasswordLength),
  maxAttempts: String(POLICY_DEFAULTS.maxAttempts),
  lockoutDurationMinutes: String(POLICY_DEFAULTS.lockoutDurationMinutes),
  allowCert: true,
  allowExpiredCerts: false,
  bindTokens: false,
  allowExtJwt: true,
  signers: [],
  allowPasskey: true,
  ...factorDemands({}),
  requireExtJwt: '',
  requireBoundToken: false,
  tags: '',
}

function valuesOf({ name, primary, secondary, tags }: AuthPolicy): PolicyValues {
  const { updb, cert, extJwt, passkey } = primary
  return {
    name,
    allowPassword: updb.allowed,
    minPasswordLength: String(updb.minPasswordLength),
    maxAttempts: String(updb.maxAttempts),
    lockoutDurationMinutes: String(updb.lockoutDurationMinutes),
    allowCert: cert.allowed,
    allowExpiredCerts: cert.allowExpiredCerts,
    bindTokens: cert.bindTokens,
    allowExtJwt: extJwt.allowed,
    signers: extJwt.allowedSigners,
    allowPasskey: passkey.allowed,
    ...factorDemands(secondary),
    requireExtJwt: secondary.requireExtJwt ?? '',
    requireBoundToken: secondary.requireBoundToken,
    tags: writeTags(tags),
  }
}

/** The same body as over the API, so that it is checked in the same way. */
function chosenIn(values: PolicyValues): NewAuthPolicy {
  const body = {
    name: values.name,
    primary: {
      updb: {
        allowed: values.allowPassword,
        minPasswordLength: wholeIn(values.minPasswordLength),
        maxAttempts: wholeIn(values.maxAttempts),
        lockoutDurationMinutes: wholeIn(values.lockoutDurationMinutes),
      },
      cert: {
        allowed: values.allowCert,
        allowExpiredCerts: values.allowExpiredCerts,
        bindTokens: values.bindTokens,
      },
      extJwt: { allowed: values.allowExtJwt, allowedSigners: [...values.signers] },
      passkey: { allowed: values.allowPasskey },
    },
    secondary: {
      ...factorDemands(values),
      requireExtJwt: values.requireExtJwt === '' ? null : values.requireExtJwt,
      requireBoundToken: values.requireBoundToken,
    },
    tags: readTags(values.tags),
  }
  return chosenOf(readBody(Contract, { kind: 'json', value: body }))
}
