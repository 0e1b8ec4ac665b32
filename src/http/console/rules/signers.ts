/** /console/signers: created from a discovery URL in one step, checked with a pasted token. API 4.5, D-136, D-366. */
import type { ExternalJwtSignerId } from '../../../base/ids.ts'
import { Secret } from '../../../base/secrets/secret.ts'
import { NewExternalJwtSigner } from '../../../contract/management/external-jwt-signers.ts'
import { SignerCheck } from '../../../contract/management/signer-check.ts'
import { SignerDiscovery } from '../../../contract/management/signer-discovery.ts'
import type { ExternalJwtSigner } from '../../../domain/ext-jwt/signer.ts'
import { checkSigner, findCheckedSigner } from '../../../domain/management/check-signer.ts'
import {
  createSigner,
  deleteSigner,
  findSigner,
  listSigners,
  type SignerDetail,
  updateSigner,
} from '../../../domain/management/manage-signers.ts'
import { discoverSigner } from '../../../domain/management/signers/discover-signer.ts'
import type { Tags } from '../../../entities/field.ts'
import type { Refusal } from '../../../web/console/layout.ts'
import { SIGNERS_PATH, signerPath } from '../../../web/console/navigation.ts'
import type { FormState } from '../../../web/console/rules/form-state.ts'
import { NEW_SIGNER, type SignerValues } from '../../../web/console/rules/signer-form.ts'
import {
  type CheckedToken,
  newSignerPage,
  type ShownSigner,
  signerPage,
  signersPage,
} from '../../../web/console/rules/signers-page.ts'
import type { Answer } from '../../answer.ts'
import { readBody } from '../../edge-api/read-body.ts'
import { chosenOf, chosenOfSigner } from '../../management-api/rules/external-jwt-signers.ts'
import type { Fields } from '../../reading/fields.ts'
import { backTo, type ConsoleCall, type ConsoleRoutes, consolePage } from '../console-route.ts'
import { addNewForm } from '../new-form.ts'
import type { ConsolePorts } from '../ports.ts'
import { refusedField } from '../refusal-text.ts'
import { backAfter, type Edited, pick, saveForm, storedForm } from '../stored-form.ts'
import { textIn } from './form-fields.ts'
import { orAgain } from './or-again.ts'
import { readTags, writeTags } from './tags-text.ts'

const ONE = `${SIGNERS_PATH}/:id`
const NOTHING_YET = { url: '', name: '', clientId: '', audience: '' }
/** There are few: every instance has a copy of all of them. */
const ALL = { limit: 500, offset: 0 }

export function addSignerScreens(routes: ConsoleRoutes, ports: ConsolePorts): void {
  const idIn = ({ head }: ConsoleCall) => head.path['id'] as ExternalJwtSignerId

  routes.show(SIGNERS_PATH, async ({ frame }) => {
    const { rows } = await listSigners(ports, ALL)
    return signersPage(frame, rows.map(shown))
  })

  routes.show(`${SIGNERS_PATH}/new`, async ({ frame, head }) =>
    newSignerPage(
      frame,
      head.query.get('by')?.[0] === 'hand'
        ? { byHand: { values: NEW_SIGNER } }
        : { discovered: { values: NOTHING_YET } },
    ),
  )

  async function create({ caller }: ConsoleCall, body: object): Promise<Answer> {
    const input = chosenOf(read(NewExternalJwtSigner, withoutEmpty(body)))
    return backTo(signerPath(await createSigner(ports, input, caller)), 'signer-created')
  }

  addNewForm(routes, {
    url: `${SIGNERS_PATH}/by-hand`,
    page: `${SIGNERS_PATH}/new?by=hand`,
    valuesIn: (fields) => FORM.stateIn(fields).values,
    show: async ({ frame }, byHand) => newSignerPage(frame, { byHand }),
    create: async (call, values) => create(call, bodyOf(values, readTags(values.tags))),
    fieldOf: FORM.fieldOf,
  })

  addNewForm(routes, {
    url: SIGNERS_PATH,
    page: `${SIGNERS_PATH}/new`,
    valuesIn: discoveredIn,
    show: async ({ frame }, discovered) => newSignerPage(frame, { discovered }),
    async create(call, values) {
      const { url, clientId, audience } = read(SignerDiscovery, withoutEmpty(values, 'name'))
      const asked = { url, clientId, audience }
      const { claims: _, ...proposed } = await discoverSigner(ports, asked)
      return create(call, { ...proposed, name: values.name })
    },
    fieldOf: (failure) => refusedField(failure, Object.keys(NOTHING_YET)),
  })

  async function onePage(
    call: ConsoleCall,
    more: { checked?: CheckedToken; refusal?: Refusal; state?: FormState<SignerValues> } = {},
  ) {
    const detail = await findSigner(ports, idIn(call))
    const { state = FORM.stateOf(detail.signer), refusal = state.refusal, checked } = more
    const signer = shown(detail)
    return signerPage(call.frame, { signer, state: { ...state, refusal }, checked })
  }

  routes.show(ONE, (call) => onePage(call))

  routes.act({ url: `${ONE}/check`, page: ONE, needs: 'session' }, async (call, fields) => {
    const signer = await findCheckedSigner(ports, idIn(call))
    return orAgain(
      async () => {
        const { jwt } = read(SignerCheck, { jwt: textIn(fields, 'jwt').trim() })
        const checked = await checkSigner(ports, signer, new Secret(jwt))
        return consolePage(200, await onePage(call, { checked }))
      },
      (message, failure) =>
        onePage(call, { refusal: { message, field: refusedField(failure, ['jwt']) } }),
    )
  })

  const again = (call: ConsoleCall, fields: Fields) =>
    onePage(call, { state: FORM.stateIn(fields) })

  routes.act({ url: ONE, page: ONE, again }, (call, fields) =>
    saveForm(FORM, FORM.stateIn(fields), {
      next: (current, edited) => patchedSigner(current, membersIn(edited)),
      write: (change) => updateSigner(ports, idIn(call), change, call.caller),
      again: (state) => onePage(call, { state }),
      done: (edited) => backAfter(edited, signerPath(idIn(call)), 'signer-changed'),
    }),
  )

  const whole = (call: ConsoleCall) => (message: string) =>
    onePage(call, { refusal: { message, field: undefined } })

  for (const [word, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    routes.act({ url: `${ONE}/${word}`, page: ONE }, (call) =>
      orAgain(async () => {
        const change = (current: ExternalJwtSigner) => patchedSigner(current, { enabled })
        await updateSigner(ports, idIn(call), change, call.caller)
        return backTo(signerPath(idIn(call)), 'signer-changed')
      }, whole(call)),
    )
  }

  routes.act({ url: `${ONE}/delete`, page: ONE }, (call) =>
    orAgain(async () => {
      await deleteSigner(ports, idIn(call), call.caller)
      return backTo(SIGNERS_PATH, 'signer-deleted')
    }, whole(call)),
  )
}

const read = <T extends Parameters<typeof readBody>[0]>(shape: T, value: object) =>
  readBody(shape, { kind: 'json', value })

/** A field that was left empty is not given. */
function withoutEmpty(values: object, ...others: readonly string[]): object {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => value !== '' && value !== undefined && !others.includes(name),
    ),
  )
}

function discoveredIn(fields: Fields) {
  const text = (name: string) => textIn(fields, name).trim()
  return {
    url: text('url'),
    name: text('name'),
    clientId: text('clientId'),
    audience: text('audience'),
  }
}

const FORM = storedForm<ExternalJwtSigner, SignerValues>({
  blank: NEW_SIGNER,
  valuesOf,
  together: [
    ['jwksEndpoint', 'certPem', 'kid'],
    // They decide whose token it is.
    ['claimsProperty', 'useExternalId'],
  ],
})

/** Returns the signer with these members changed, as a PATCH does. Throws COULD_NOT_VALIDATE. */
function patchedSigner(current: ExternalJwtSigner, members: object) {
  return chosenOf(read(NewExternalJwtSigner, { ...chosenOfSigner(current), ...members }))
}

function membersIn({ changed, state: { values } }: Edited<SignerValues>): object {
  // Only a change is read: what another program wrote need not be a form.
  const tags = changed.includes('tags') ? readTags(values.tags) : {}
  return pick(bodyOf(values, tags), changed)
}

/** The same members as over the API, so that they are checked in the same way. An empty one is cleared. */
function bodyOf(values: SignerValues, tags: Tags): object {
  const orNull = (text: string) => (text === '' ? null : text)
  return {
    ...values,
    jwksEndpoint: orNull(values.jwksEndpoint),
    certPem: orNull(values.certPem),
    kid: orNull(values.kid),
    externalAuthUrl: orNull(values.externalAuthUrl),
    clientId: orNull(values.clientId),
    scopes: values.scopes.split(/\s+/).filter((scope) => scope !== ''),
    tags,
  }
}

function valuesOf(signer: ExternalJwtSigner): SignerValues {
  const { keys } = signer
  return {
    name: signer.name,
    issuer: signer.issuer,
    audience: signer.audience,
    jwksEndpoint: keys.kind === 'jwks' ? keys.jwksEndpoint : '',
    certPem: keys.kind === 'jwks' ? '' : keys.certPem,
    kid: keys.kind === 'jwks' ? '' : (keys.kid ?? ''),
    claimsProperty: signer.claimsProperty,
    useExternalId: signer.useExternalId,
    externalAuthUrl: signer.externalAuthUrl ?? '',
    clientId: signer.clientId ?? '',
    scopes: signer.scopes.join(' '),
    targetToken: signer.targetToken,
    tags: writeTags(signer.tags),
  }
}

function shown({ signer, keySet }: SignerDetail): ShownSigner {
  const { id, name, issuer, enabled, keys } = signer
  return {
    id,
    name,
    issuer,
    isEnabled: enabled,
    keys: keys.kind === 'jwks' ? keys.jwksEndpoint : 'a certificate',
    lastFetchedAt: keySet?.lastFetchedAt,
    lastError: keySet?.lastError,
    keyCount: keySet?.keys.length ?? 0,
  }
}
