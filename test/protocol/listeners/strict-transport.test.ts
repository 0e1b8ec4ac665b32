/** Strict-Transport-Security (RFC 6797). D-200. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startService } from '../../support/service.ts'

for (const [setting, expected] of [
  [undefined, undefined],
  ['auto', undefined],
  ['never', undefined],
  ['always', 'max-age=31536000'],
] as const) {
  test(`with a certificate of our own CA and ${setting ?? 'nothing'} configured, answers say ${expected ?? 'nothing'}`, async (t) => {
    const options = setting === undefined ? {} : { strictTransportSecurity: setting }
    const service = await startService(t, {
      config: {
        web: [
          {
            name: 'all',
            bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
            options,
            apis: [{ binding: 'edge-client' }],
          },
        ],
      },
    })
    // Also for a missing route, session or body, and for invalid percent-encoding.
    for (const path of ['/version', '/account', '/nothing', '/edge/client/v1/identities', '/%zz']) {
      const { headers } = await service.call(path)
      assert.equal(headers['strict-transport-security'], expected, path)
    }
  })
}
