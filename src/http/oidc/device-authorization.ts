/** POST /oidc/device_authorization: RFC 8628 §3.1, §3.2, D-440. */
import type { DevicePorts } from '../../domain/device/ports.ts'
import { requestDeviceCode } from '../../domain/device/request-device-code.ts'
import { shownUserCode } from '../../domain/device/user-code.ts'
import { DEVICE_PATH, USER_CODE_PARAMETER } from '../../web/device/paths.ts'
import { json } from '../answer.ts'
import type { ListenerParts } from '../listener-parts.ts'
import type { Router } from '../router.ts'
import { PATHS } from './paths.ts'
import { readClientId, singleFields } from './token.ts'

export function addDeviceAuthorization(
  router: Router,
  ports: DevicePorts,
  { addresses, counters }: Pick<ListenerParts, 'addresses' | 'counters'>,
): void {
  router.add(
    {
      method: 'POST',
      url: PATHS.deviceAuthorization,
      access: 'login',
      face: { json: 'oauth', pages: false },
      cors: 'listed',
      reads: ['form'],
      replies: [200, 401, 429],
    },
    async (call) => {
      const one = singleFields(call.body)
      const requested = await counters.countDevice(
        requestDeviceCode(ports, {
          issuer: addresses().issuerOf(call),
          clientId: readClientId(call, one('client_id'), one('client_secret')),
          scope: one('scope'),
          caller: call.caller,
        }),
      )
      const userCode = shownUserCode(requested.userCode)
      const page = `${addresses().baseUrlOf(call)}${DEVICE_PATH}`
      return json(200, {
        device_code: requested.deviceCode.reveal(),
        user_code: userCode,
        verification_uri: page,
        verification_uri_complete: `${page}?${USER_CODE_PARAMETER}=${userCode}`,
        expires_in: requested.expiresInSeconds,
        interval: requested.intervalSeconds,
      })
    },
  )
}
