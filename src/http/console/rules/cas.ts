/** /console/cas: third-party CAs, with the proof of possession as steps. API 4.6. */
import { readCertificates, validity } from '../../../base/certificates.ts'
import type { CaId } from '../../../base/ids.ts'
import { NewCa } from '../../../contract/management/cas.ts'
import type { Ca } from '../../../domain/certificates/third-party/ca.ts'
import {
  createCa,
  deleteCa,
  findCa,
  listCas,
  updateCa,
  verifyCa,
} from '../../../domain/management/manage-cas.ts'
import type { Refusal } from '../../../web/console/layout.ts'
import { CAS_PATH, caPath } from '../../../web/console/navigation.ts'
import type { CaValues } from '../../../web/console/rules/ca-form.ts'
import {
  caPage,
  casPage,
  type NewCaValues,
  newCaPage,
  type ShownCa,
} from '../../../web/console/rules/cas-page.ts'
import type { FormState } from '../../../web/console/rules/form-state.ts'
import { readBody } from '../../edge-api/read-body.ts'
import { chosenOf, chosenOfCa } from '../../management-api/rules/cas.ts'
import type { Fields } from '../../reading/fields.ts'
import { backTo, type ConsoleCall, type ConsoleRoutes } from '../console-route.ts'
import { addNewForm } from '../new-form.ts'
import type { ConsolePorts } from '../ports.ts'
import { refusedField } from '../refusal-text.ts'
import { backAfter, type Edited, pick, saveForm, storedForm } from '../stored-form.ts'
import { linesIn, textIn, wholeIn } from './form-fields.ts'
import { orAgain } from './or-again.ts'
import { readTags, writeTags } from './tags-text.ts'

const ONE = `${CAS_PATH}/:id`
/** There are few: every instance has a copy of all of them. */
const ALL = { limit: 500, offset: 0 }

export function addCaScreens(routes: ConsoleRoutes, ports: ConsolePorts): void {
  const idIn = ({ head }: ConsoleCall) => head.path['id'] as CaId
  const onePage = async (
    call: ConsoleCall,
    more: { state?: FormState<CaValues>; refusal?: Refusal; proof?: string } = {},
  ) => {
    const ca = await findCa(ports, idIn(call))
    const { state = FORM.stateOf(ca), proof, refusal = state.refusal } = more
    return caPage(call.frame, { ca: shown(ca), state: { ...state, refusal }, proof })
  }

  routes.show(CAS_PATH, async ({ frame }) => {
    const { rows } = await listCas(ports, ALL)
    return casPage(frame, rows.map(shown))
  })

  routes.show(`${CAS_PATH}/new`, async ({ frame }) => newCaPage(frame, { values: NEW_CA }))

  addNewForm(routes, {
    url: CAS_PATH,
    page: `${CAS_PATH}/new`,
    valuesIn: newIn,
    show: async ({ frame }, state) => newCaPage(frame, state),
    async create({ caller }, values) {
      const value = { ...values, isAuthEnabled: true }
      const input = chosenOf(readBody(NewCa, { kind: 'json', value }))
      return backTo(caPath(await createCa(ports, input, caller)), 'ca-created')
    },
    fieldOf: (failure) => refusedField(failure, Object.keys(NEW_CA)),
  })

  routes.show(ONE, (call) => onePage(call))

  const again = (call: ConsoleCall, fields: Fields) =>
    onePage(call, { state: FORM.stateIn(fields) })

  routes.act({ url: ONE, page: ONE, again }, (call, fields) =>
    saveForm(FORM, FORM.stateIn(fields), {
      write: (change) => updateCa(ports, idIn(call), change, call.caller),
      next: withChanges,
      again: (state) => onePage(call, { state }),
      done: (edited) => backAfter(edited, caPath(idIn(call)), 'ca-changed'),
    }),
  )

  routes.act(
    {
      url: `${ONE}/verify`,
      page: ONE,
      again: (call, fields) => onePage(call, { proof: textIn(fields, 'proof') }),
    },
    (call, fields) => {
      const proof = textIn(fields, 'proof')
      return orAgain(
        async () => {
          await verifyCa(ports, idIn(call), proof, call.caller)
          return backTo(caPath(idIn(call)), 'ca-verified')
        },
        (message, { code }) => {
          // A CA that was verified meanwhile has no such field any more.
          const field = code === 'CA_ALREADY_VERIFIED' ? undefined : 'proof'
          return onePage(call, { refusal: { message, field }, proof })
        },
      )
    },
  )

  routes.act({ url: `${ONE}/delete`, page: ONE }, (call) =>
    orAgain(
      async () => {
        await deleteCa(ports, idIn(call), call.caller)
        return backTo(CAS_PATH, 'ca-deleted')
      },
      (message) => onePage(call, { refusal: { message, field: undefined } }),
    ),
  )
}

const NEW_CA: NewCaValues = { name: '', certPem: '' }

function newIn(fields: Fields): NewCaValues {
  return { name: textIn(fields, 'name').trim(), certPem: textIn(fields, 'certPem') }
}

const CLAIM = [
  'location',
  'matcher',
  'matcherCriteria',
  'parser',
  'parserCriteria',
  'index',
] as const

const FORM = storedForm<Ca, CaValues>({
  blank: {
    name: '',
    isAuthEnabled: false,
    isOttCaEnrollmentEnabled: false,
    isAutoCaEnrollmentEnabled: false,
    identityRoles: '',
    identityNameFormat: '',
    location: '',
    matcher: '',
    matcherCriteria: '',
    parser: '',
    parserCriteria: '',
    index: '',
    tags: '',
  },
  valuesOf,
  // A blank can be a separator.
  exact: ['matcherCriteria', 'parserCriteria'],
  // They decide whose certificate it is.
  together: [CLAIM],
})

/** The same members as over the API, so that they are checked in the same way. Throws COULD_NOT_VALIDATE. */
function withChanges(current: Ca, { changed, state }: Edited<CaValues>) {
  const { values } = state
  const claim = { ...pick(values, CLAIM), index: wholeIn(values.index) }
  const body = {
    ...values,
    identityRoles: linesIn(values.identityRoles),
    externalIdClaim: values.location === '' ? null : claim,
    // Only a change is read: what another program wrote need not be a form.
    tags: changed.includes('tags') ? readTags(values.tags) : {},
  }
  const isClaim = (name: string) => CLAIM.some((one) => one === name)
  const members = changed.map((name) => (isClaim(name) ? 'externalIdClaim' : name))
  const value = { ...chosenOfCa(current), ...pick(body, members) }
  return chosenOf(readBody(NewCa, { kind: 'json', value }))
}

function valuesOf(ca: Ca): CaValues {
  const { externalIdClaim: claim } = ca
  return {
    name: ca.name,
    isAuthEnabled: ca.isAuthEnabled,
    isOttCaEnrollmentEnabled: ca.isOttCaEnrollmentEnabled,
    isAutoCaEnrollmentEnabled: ca.isAutoCaEnrollmentEnabled,
    identityRoles: ca.identityRoles.join('\n'),
    identityNameFormat: ca.identityNameFormat,
    location: claim?.location ?? '',
    matcher: claim?.matcher ?? 'ALL',
    matcherCriteria: claim?.matcherCriteria ?? '',
    parser: claim?.parser ?? 'NONE',
    parserCriteria: claim?.parserCriteria ?? '',
    index: String(claim?.index ?? 0),
    tags: writeTags(ca.tags),
  }
}

function shown(ca: Ca): ShownCa {
  const [certificate] = readCertificates(ca.certPem)
  return {
    id: ca.id,
    name: ca.name,
    fingerprint: ca.fingerprint,
    isVerified: ca.isVerified,
    verificationToken: ca.verificationToken ?? '',
    endsAt: certificate === undefined ? undefined : validity(certificate).notAfter,
    values: valuesOf(ca),
  }
}
