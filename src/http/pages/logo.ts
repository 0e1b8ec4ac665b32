/** GET /branding/logo: the logo of the operator, which every page shows (D-343). Only there if one is configured. */
import { LOGO_PATH } from '../../web/login/look/branding.ts'
import type { ListenerParts } from '../listener-parts.ts'
import type { Router } from '../router.ts'

/** Long enough for the pages of one sign-in, short enough for a new logo to be seen soon. */
const CACHE_CONTROL = 'public, max-age=300'

export function addLogo(router: Router, { branding }: Pick<ListenerParts, 'branding'>): void {
  const { logo } = branding
  if (logo === undefined) return
  const { type } = logo
  const bytes = Buffer.from(logo.base64, 'base64')
  router.add(
    {
      method: 'GET',
      url: LOGO_PATH,
      access: 'public',
      face: { json: 'api', pages: false },
      replies: [200],
    },
    () => ({
      status: 200,
      headers: { 'cache-control': CACHE_CONTROL, 'cross-origin-resource-policy': 'same-origin' },
      content: { kind: 'image', type, bytes },
    }),
  )
}
