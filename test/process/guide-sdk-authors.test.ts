/**
 * docs/sdk-authors.md and the pages below docs/sdk are run, in the order in which they are listed, in one folder and
 * against one service. The last one waits for a token to expire, which is the end of the administrator's too.
 */
import { test } from 'node:test'
import { runGuide } from '../support/guides/guide.ts'
import { prepareSdkStage } from '../support/guides/sdk-stage.ts'

test('the lines for SDK authors are answered as the pages say', async (t) => {
  const { pasted, atAddress, clock } = await prepareSdkStage(t)
  await runGuide(t, 'docs/sdk-authors.md', atAddress)
  // From here on time passes where a page says so: what is a matter of seconds does not depend on a busy machine. Not
  // before, since openssl dates a certificate there.
  clock.hold()
  await runGuide(t, 'docs/sdk/login.md', atAddress)
  await runGuide(t, 'docs/sdk/factors.md', atAddress)
  await runGuide(t, 'docs/sdk/passkeys.md', atAddress)
  await runGuide(t, 'docs/sdk/credentials.md', atAddress)
  await runGuide(t, 'docs/sdk/tokens.md', atAddress)
  await runGuide(t, 'docs/sdk/device.md', atAddress)
  await runGuide(t, 'docs/sdk/dpop.md', pasted)
  await runGuide(t, 'docs/sdk/zt-session.md', pasted)
  await runGuide(t, 'docs/sdk/certificates.md', atAddress)
  await runGuide(t, 'docs/sdk/self-service.md', pasted)
  await runGuide(t, 'docs/sdk/calls.md', pasted)
})
