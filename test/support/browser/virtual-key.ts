/** A virtual authenticator of Chromium, for a page: its user agrees to everything, unless told otherwise. */
import type { CDPSession, Page } from 'playwright-core'

export interface VirtualKey {
  /** What it holds, to put into another one. */
  credentials(): Promise<readonly Credential[]>
  /** Whether its user agrees. */
  agree(does: boolean): Promise<void>
  /** Takes it away, with what it holds. */
  unplug(): Promise<void>
}

type Credential = Awaited<ReturnType<CDPSession['send']>> extends never ? never : object

export async function plugIn(page: Page, credentials: readonly object[] = []): Promise<VirtualKey> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  for (const credential of credentials) {
    await cdp.send('WebAuthn.addCredential', { authenticatorId, credential: credential as never })
  }
  return {
    credentials: async () =>
      (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
    async agree(does) {
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: does })
    },
    async unplug() {
      await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
    },
  }
}
