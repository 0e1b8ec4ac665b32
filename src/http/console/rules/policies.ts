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
import {
  type LockedOut,
  type PolicyPreview,
  previewPolicy,
} from '../../../domain/management/what-if/preview-policy.ts'
import {
  type AuthPolicy,
  isBuiltIn,
  POLICY_DEFAULTS,
} from '../../../domain/policies/auth-policy.ts'
import type { Tags } from '../../../entities/field.ts'
import { factorDemands } from '../../../protocol/factors/second-factors.ts'
import { POLICIES_PATH, policyPath } from '../../../web/console/navigation.ts'
import type { FormState } from '../../../web/console/rules/form-state.ts'
import {
  newPolicyPage,
  policiesPage,
  policyPage,
} from '../../../web/console/rules/policies-page.ts'
import type { PolicyValues } from '../../../web/console/rules/policy-form.ts'
import { BACK_FIELD, policyPreviewPage } from '../../../web/console/rules/policy-preview-page.ts'
import { readBody } from '../../edge-api/read-body.ts'
import { chosenOf } from '../../management-api/rules/auth-policies.ts'
import type { Fields } from '../../reading/fields.ts'
import { backTo, type ConsoleCall, type ConsoleRoutes, consolePage } from '../console-route.ts'
import { addNewForm } from '../new-form.ts'
import type { ConsolePorts } from '../ports.ts'
import { AskFirst, backAfter, type Edited, saveForm, storedForm } from '../stored-form.ts'
import { isChecked, wholeIn } from './form-fields.ts'
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

  const newPage = async ({ frame }: ConsoleCall, state: FormState<PolicyValues>) =>
    newPolicyPage(frame, { state, signers: await signers() })

  routes.show(`${POLICIES_PATH}/new`, (call) => newPage(call, { values: NEW_POLICY }))

  addNewForm(routes, {
    url: POLICIES_PATH,
    page: `${POLICIES_PATH}/new`,
    valuesIn: (fields) => FORM.stateIn(fields).values,
    show: newPage,
    async create({ caller }, values) {
      const id = await createPolicy(ports, chosenIn(values, readTags(values.tags)), caller)
      return backTo(policyPath(id), 'policy-created')
    },
    fieldOf: FORM.fieldOf,
  })

  async function onePage(call: ConsoleCall, state?: FormState<PolicyValues>) {
    const policy = await policyIn(call)
    const { id, name } = policy
    return policyPage(call.frame, {
      id,
      name,
      identities: await ports.identities.countWithPolicy(id),
      isBuiltIn: isBuiltIn(id),
      state: state ?? FORM.stateOf(policy),
      signers: await signers(),
    })
  }

  routes.show(ONE, (call) => onePage(call))

  const again = (call: ConsoleCall, fields: Fields) => onePage(call, FORM.stateIn(fields))

  routes.act(
    { url: `${ONE}/preview`, page: ONE, needs: 'session', again },
    async (call, fields) => {
      if (isChecked(fields, BACK_FIELD)) return consolePage(200, await again(call, fields))
      const { id, name } = await policyIn(call)
      let preview: PolicyPreview | undefined
      return saveForm(FORM, FORM.stateIn(fields), {
        write: async (change) => {
          preview = await previewPolicy(ports, id, change, call.caller)
        },
        next: withChanges,
        again: (state) => onePage(call, state),
        done: ({ state }) =>
          consolePage(
            200,
            policyPreviewPage(call.frame, { ...shown(preview as PolicyPreview), id, name, state }),
          ),
      })
    },
  )

  routes.act({ url: ONE, page: ONE, again }, async (call, fields) => {
    const { id } = await policyIn(call)
    return saveForm(FORM, FORM.stateIn(fields), {
      next(current, edited) {
        // The form has what the preview showed: of another policy, nothing was previewed.
        if (edited.isOutdated && edited.changed.length > 0) throw new AskFirst()
        return withChanges(current, edited)
      },
      write: (change) => updatePolicy(ports, id, change, call.caller),
      again: ({ theirs = {}, ...state }) =>
        onePage(call, state.refusal === undefined ? { ...state, theirs } : state),
      done: (edited) => backAfter(edited, policyPath(id), 'policy-changed'),
    })
  })

  routes.act({ url: `${ONE}/delete`, page: ONE }, async (call) => {
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
  allowedSigners: [],
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
    allowedSigners: extJwt.allowedSigners,
    allowPasskey: passkey.allowed,
    ...factorDemands(secondary),
    requireExtJwt: secondary.requireExtJwt ?? '',
    requireBoundToken: secondary.requireBoundToken,
    tags: writeTags(tags),
  }
}

const FORM = storedForm<AuthPolicy, PolicyValues>({
  blank: NEW_POLICY,
  valuesOf,
  fieldOf: ({ field }) => (field?.field === 'primary' ? 'allowPassword' : undefined),
})

function withChanges(current: AuthPolicy, { changed, state }: Edited<PolicyValues>): NewAuthPolicy {
  const { values } = state
  // Only a change is read: what another program wrote need not be a form.
  return chosenIn(values, changed.includes('tags') ? readTags(values.tags) : current.tags)
}

function shown({ lockedOut, sessions, ...preview }: PolicyPreview) {
  const { ending, live, restricted } = sessions
  const whyNot = ({ because }: LockedOut) =>
    because.map(({ method, reason }) => `${method}: ${refusalSentence(reason)}`).join(' ')
  return {
    ...preview,
    isRefused: preview.refusal !== undefined,
    lockedOut: {
      count: lockedOut.count,
      rows: lockedOut.rows.map((one) => ({ ...one, why: whyNot(one) })),
    },
    ending: {
      count: ending.count,
      rows: ending.rows.map((one) => ({ ...one, why: refusalSentence(one.reason) })),
    },
    live,
    restricted,
  }
}

/** The same body as over the API, so that it is checked in the same way. */
function chosenIn(values: PolicyValues, tags: Tags): NewAuthPolicy {
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
      extJwt: { allowed: values.allowExtJwt, allowedSigners: [...values.allowedSigners] },
      passkey: { allowed: values.allowPasskey },
    },
    secondary: {
      ...factorDemands(values),
      requireExtJwt: values.requireExtJwt === '' ? null : values.requireExtJwt,
      requireBoundToken: values.requireBoundToken,
    },
    tags,
  }
  return chosenOf(readBody(Contract, { kind: 'json', value: body }))
}
