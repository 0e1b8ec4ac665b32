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
import { SIGNERS_PATH, signerPath } from '../../../web/console/navigation.ts'
import { NEW_SIGNER, type SignerValues } from '../../../web/console/rules/signer-form.ts'
import {
  type CheckedToken,
  newSignerPage,
  type ShownSigner,
  signerPage,
  signersPage,
} from '../../../web/console/rules/signers-page.ts'
import { readBody } from '../../edge-api/read-body.ts'
import { chosenOf, chosenOfSigner } from '../../management-api/rules/external-jwt-signers.ts'
import type { Fields } from '../../reading/fields.ts'
import { backTo, type ConsoleCall, type ConsoleRoutes, consolePage } from '../console-route.ts'
import type { ConsolePorts } from '../ports.ts'
import { isChecked, textIn } from './form-fields.ts'
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
    newSignerPage(frame, {
      discovered: NOTHING_YET,
      ...(head.query.get('by')?.[0] === 'hand' ? { values: NEW_SIGNER } : {}),
    }),
  )

  routes.act(
    {
      url: `${SIGNERS_PATH}/by-hand`,
      page: `${SIGNERS_PATH}/new?by=hand`,
      needs: 'fresh-login',
      again: async ({ frame }, fields) =>
        newSignerPage(frame, { discovered: NOTHING_YET, values: valuesIn(fields) }),
    },
    async ({ frame, caller }, fields) => {
      const values = valuesIn(fields)
      return orAgain(
        async () => {
          const input = chosenOf(read(NewExternalJwtSigner, withoutEmpty(bodyOf(values))))
          return backTo(signerPath(await createSigner(ports, input, caller)), 'signer-created')
        },
        async (error) => newSignerPage(frame, { discovered: NOTHING_YET, values, error }),
      )
    },
  )

  routes.act(
    {
      url: SIGNERS_PATH,
      page: `${SIGNERS_PATH}/new`,
      needs: 'fresh-login',
      again: async ({ frame }, fields) =>
        newSignerPage(frame, { discovered: discoveredIn(fields) }),
    },
    async ({ frame, caller }, fields) => {
      const values = discoveredIn(fields)
      return orAgain(
        async () => {
          const { url, clientId, audience } = read(SignerDiscovery, withoutEmpty(values, 'name'))
          const asked = { url, clientId, audience }
          const { claims: _, ...proposed } = await discoverSigner(ports, asked)
          const body = { ...proposed, name: values.name }
          const input = chosenOf(read(NewExternalJwtSigner, withoutEmpty(body)))
          const id = await createSigner(ports, input, caller)
          return backTo(signerPath(id), 'signer-created')
        },
        async (error) => newSignerPage(frame, { discovered: values, error }),
      )
    },
  )

  async function onePage(
    call: ConsoleCall,
    more: { checked?: CheckedToken; error?: string; values?: SignerValues | undefined } = {},
  ) {
    const signer = shown(await findSigner(ports, idIn(call)))
    return signerPage(call.frame, { signer, ...more })
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
      (error) => onePage(call, { error }),
    )
  })

  /** A change of some members, as a PATCH makes it. */
  const patch = (call: ConsoleCall, changes: () => object, values?: SignerValues) =>
    orAgain(
      async () => {
        const changed = (current: ExternalJwtSigner) =>
          chosenOf(read(NewExternalJwtSigner, { ...chosenOfSigner(current), ...changes() }))
        await updateSigner(ports, idIn(call), changed, call.caller)
        return backTo(signerPath(idIn(call)), 'signer-changed')
      },
      (error) => onePage(call, { error, values }),
    )

  const again = (call: ConsoleCall, fields: Fields) => onePage(call, { values: valuesIn(fields) })

  routes.act({ url: ONE, page: ONE, needs: 'fresh-login', again }, (call, fields) => {
    const values = valuesIn(fields)
    return patch(call, () => bodyOf(values), values)
  })
  for (const [word, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    routes.act({ url: `${ONE}/${word}`, page: ONE, needs: 'fresh-login' }, (call) =>
      patch(call, () => ({ enabled })),
    )
  }

  routes.act({ url: `${ONE}/delete`, page: ONE, needs: 'fresh-login' }, (call) =>
    orAgain(
      async () => {
        await deleteSigner(ports, idIn(call), call.caller)
        return backTo(SIGNERS_PATH, 'signer-deleted')
      },
      (error) => onePage(call, { error }),
    ),
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

function valuesIn(fields: Fields): SignerValues {
  const text = (name: string) => textIn(fields, name).trim()
  return {
    name: text('name'),
    issuer: text('issuer'),
    audience: text('audience'),
    jwksEndpoint: text('jwksEndpoint'),
    certPem: text('signerCert'),
    kid: text('kid'),
    claim: text('claim'),
    usesExternalId: isChecked(fields, 'usesExternalId'),
    authUrl: text('authUrl'),
    clientId: text('clientId'),
    scopes: text('scopes'),
    targetToken: text('targetToken'),
    tags: textIn(fields, 'tags'),
  }
}

/** The same members as over the API, so that they are checked in the same way. An empty one is cleared. */
function bodyOf(values: SignerValues): object {
  const orNull = (text: string) => (text === '' ? null : text)
  return {
    name: values.name,
    issuer: values.issuer,
    audience: values.audience,
    jwksEndpoint: orNull(values.jwksEndpoint),
    certPem: orNull(values.certPem),
    kid: orNull(values.kid),
    claimsProperty: values.claim,
    useExternalId: values.usesExternalId,
    externalAuthUrl: orNull(values.authUrl),
    clientId: orNull(values.clientId),
    scopes: values.scopes.split(/\s+/).filter((scope) => scope !== ''),
    targetToken: values.targetToken,
    tags: readTags(values.tags),
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
    claim: signer.claimsProperty,
    usesExternalId: signer.useExternalId,
    authUrl: signer.externalAuthUrl ?? '',
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
    values: valuesOf(signer),
  }
}
