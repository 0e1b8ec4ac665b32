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
import { CAS_PATH, caPath } from '../../../web/console/navigation.ts'
import type { CaValues } from '../../../web/console/rules/ca-form.ts'
import { caPage, casPage, newCaPage, type ShownCa } from '../../../web/console/rules/cas-page.ts'
import { readBody } from '../../edge-api/read-body.ts'
import { chosenOf, chosenOfCa } from '../../management-api/rules/cas.ts'
import type { Fields } from '../../reading/fields.ts'
import { backTo, type ConsoleCall, type ConsoleRoutes } from '../console-route.ts'
import type { ConsolePorts } from '../ports.ts'
import { isChecked, linesIn, textIn, wholeIn } from './form-fields.ts'
import { orAgain } from './or-again.ts'
import { readTags, writeTags } from './tags-text.ts'

const ONE = `${CAS_PATH}/:id`
/** There are few: every instance has a copy of all of them. */
const ALL = { limit: 500, offset: 0 }

export function addCaScreens(routes: ConsoleRoutes, ports: ConsolePorts): void {
  const idIn = ({ head }: ConsoleCall) => head.path['id'] as CaId
  const onePage = async (
    call: ConsoleCall,
    more: { error?: string; values?: CaValues; proof?: string } = {},
  ) => caPage(call.frame, { ca: shown(await findCa(ports, idIn(call))), ...more })

  routes.show(CAS_PATH, async ({ frame }) => {
    const { rows } = await listCas(ports, ALL)
    return casPage(frame, rows.map(shown))
  })

  routes.show(`${CAS_PATH}/new`, async ({ frame }) => newCaPage(frame, { name: '', certPem: '' }))

  routes.act(
    {
      url: CAS_PATH,
      page: `${CAS_PATH}/new`,
      needs: 'fresh-login',
      again: async ({ frame }, fields) => newCaPage(frame, newIn(fields)),
    },
    async ({ frame, caller }, fields) => {
      const values = newIn(fields)
      return orAgain(
        async () => {
          const value = { ...values, isAuthEnabled: true }
          const input = chosenOf(readBody(NewCa, { kind: 'json', value }))
          return backTo(caPath(await createCa(ports, input, caller)), 'ca-created')
        },
        async (error) => newCaPage(frame, { ...values, error }),
      )
    },
  )

  routes.show(ONE, (call) => onePage(call))

  const again = (call: ConsoleCall, fields: Fields) => onePage(call, { values: valuesIn(fields) })

  routes.act({ url: ONE, page: ONE, needs: 'fresh-login', again }, (call, fields) => {
    const values = valuesIn(fields)
    return orAgain(
      async () => {
        const changes = bodyOf(values)
        const change = (current: Ca) =>
          chosenOf(readBody(NewCa, { kind: 'json', value: { ...chosenOfCa(current), ...changes } }))
        await updateCa(ports, idIn(call), change, call.caller)
        return backTo(caPath(idIn(call)), 'ca-changed')
      },
      (error) => onePage(call, { error, values }),
    )
  })

  routes.act(
    {
      url: `${ONE}/verify`,
      page: ONE,
      needs: 'fresh-login',
      again: (call, fields) => onePage(call, { proof: textIn(fields, 'proof') }),
    },
    (call, fields) => {
      const proof = textIn(fields, 'proof')
      return orAgain(
        async () => {
          await verifyCa(ports, idIn(call), proof, call.caller)
          return backTo(caPath(idIn(call)), 'ca-verified')
        },
        (error) => onePage(call, { error, proof }),
      )
    },
  )

  routes.act({ url: `${ONE}/delete`, page: ONE, needs: 'fresh-login' }, (call) =>
    orAgain(
      async () => {
        await deleteCa(ports, idIn(call), call.caller)
        return backTo(CAS_PATH, 'ca-deleted')
      },
      (error) => onePage(call, { error }),
    ),
  )
}

function newIn(fields: Fields) {
  return { name: textIn(fields, 'name').trim(), certPem: textIn(fields, 'certPem') }
}

function valuesIn(fields: Fields): CaValues {
  const text = (name: string) => textIn(fields, name)
  return {
    name: text('name').trim(),
    isAuthEnabled: isChecked(fields, 'isAuthEnabled'),
    isOttEnabled: isChecked(fields, 'isOttEnabled'),
    isAutoEnabled: isChecked(fields, 'isAutoEnabled'),
    identityRoles: text('identityRoles'),
    identityNameFormat: text('identityNameFormat').trim(),
    location: text('location'),
    matcher: text('matcher'),
    matcherCriteria: text('matcherCriteria'),
    parser: text('parser'),
    parserCriteria: text('parserCriteria'),
    index: text('index'),
    tags: text('tags'),
  }
}

/** The same members as over the API, so that they are checked in the same way. */
function bodyOf(values: CaValues): object {
  const { location, matcher, matcherCriteria, parser, parserCriteria } = values
  const index = wholeIn(values.index)
  return {
    name: values.name,
    isAuthEnabled: values.isAuthEnabled,
    isOttCaEnrollmentEnabled: values.isOttEnabled,
    isAutoCaEnrollmentEnabled: values.isAutoEnabled,
    identityRoles: linesIn(values.identityRoles),
    identityNameFormat: values.identityNameFormat,
    externalIdClaim:
      location === ''
        ? null
        : { location, matcher, matcherCriteria, parser, parserCriteria, index },
    tags: readTags(values.tags),
  }
}

function valuesOf(ca: Ca): CaValues {
  const { externalIdClaim: claim } = ca
  return {
    name: ca.name,
    isAuthEnabled: ca.isAuthEnabled,
    isOttEnabled: ca.isOttCaEnrollmentEnabled,
    isAutoEnabled: ca.isAutoCaEnrollmentEnabled,
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
