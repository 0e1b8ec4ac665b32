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
import type { ConsoleNote } from '../../../web/console/notes.ts'
import {
  type CheckedToken,
  newSignerPage,
  type ShownSigner,
  signerPage,
  signersPage,
} from '../../../web/console/rules/signers-page.ts'
import { readBody } from '../../edge-api/read-body.ts'
import { chosenOf, chosenOfSigner } from '../../management-api/external-jwt-signers.ts'
import { backTo, type ConsoleCall, type ConsoleRoutes, consolePage } from '../console-route.ts'
import type { ConsolePorts } from '../ports.ts'
import { isChecked, textIn } from './form-fields.ts'
import { orAgain } from './or-again.ts'

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

  routes.show(`${SIGNERS_PATH}/new`, async ({ frame }) =>
    newSignerPage(frame, { values: NOTHING_YET }),
  )

  routes.act(
    { url: SIGNERS_PATH, page: `${SIGNERS_PATH}/new`, needs: 'fresh-login' },
    async ({ frame, caller }, fields) => {
      const text = (name: string) => textIn(fields, name).trim()
      const values = {
        url: text('url'),
        name: text('name'),
        clientId: text('clientId'),
        audience: text('audience'),
      }
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
        async (error) => newSignerPage(frame, { values, error }),
      )
    },
  )

  async function onePage(call: ConsoleCall, more: { checked?: CheckedToken; error?: string } = {}) {
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
  const patch = (call: ConsoleCall, changes: object, note: ConsoleNote) =>
    orAgain(
      async () => {
        const changed = (current: ExternalJwtSigner) =>
          chosenOf(read(NewExternalJwtSigner, { ...chosenOfSigner(current), ...changes }))
        await updateSigner(ports, idIn(call), changed, call.caller)
        return backTo(signerPath(idIn(call)), note)
      },
      (error) => onePage(call, { error }),
    )

  routes.act({ url: ONE, page: ONE, needs: 'fresh-login' }, (call, fields) => {
    const changes = {
      name: textIn(fields, 'name').trim(),
      audience: textIn(fields, 'audience').trim(),
      claimsProperty: textIn(fields, 'claim').trim(),
      useExternalId: isChecked(fields, 'usesExternalId'),
    }
    return patch(call, changes, 'signer-changed')
  })
  for (const [word, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    routes.act({ url: `${ONE}/${word}`, page: ONE, needs: 'fresh-login' }, (call) =>
      patch(call, { enabled }, 'signer-changed'),
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

function shown({ signer, keySet }: SignerDetail): ShownSigner {
  const { id, name, issuer, audience, enabled, keys, claimsProperty, useExternalId } = signer
  return {
    id,
    name,
    issuer,
    audience,
    isEnabled: enabled,
    keys: keys.kind === 'jwks' ? keys.jwksEndpoint : 'a certificate',
    claim: claimsProperty,
    usesExternalId: useExternalId,
    clientId: signer.clientId ?? '',
    authUrl: signer.externalAuthUrl ?? '',
    lastFetchedAt: keySet?.lastFetchedAt,
    lastError: keySet?.lastError,
    keyCount: keySet?.keys.length ?? 0,
  }
}
