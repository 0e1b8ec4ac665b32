/** The order of the pages in the documentation, by what readers want to do. A test checks that none is missing. */

export interface Group {
  readonly title: string
  /** Paths of the sources, from the root of the repository. */
  readonly pages: readonly string[]
}

export const NAVIGATION: readonly Group[] = [
  {
    title: 'Start',
    pages: [
      'docs/index.md',
      'docs/first-login.md',
      'docs/demo.md',
      'docs/features.md',
      'docs/comparison.md',
    ],
  },
  {
    title: 'Run it',
    pages: [
      'docs/install.md',
      'docs/operating.md',
      'docs/configuration.md',
      'docs/postgresql.md',
      'docs/backup.md',
      'docs/upgrade.md',
      'docs/monitoring.md',
      'docs/performance.md',
      'docs/scaling.md',
    ],
  },
  {
    title: 'Administer',
    pages: [
      'docs/console.md',
      'docs/administrators.md',
      'docs/recipes.md',
      'docs/cli.md',
      'docs/enrollment.md',
      'docs/certificates.md',
      'docs/external-idp.md',
      'docs/account.md',
      'docs/audit.md',
      'docs/lists.md',
      'docs/router.md',
      'docs/gateway.md',
      'docs/forward-auth.md',
      'docs/connect.md',
    ],
  },
  {
    title: 'Build a client',
    pages: [
      'docs/client.md',
      'docs/clients.md',
      'docs/sdk-authors.md',
      'docs/sdk/login.md',
      'docs/sdk/credentials.md',
      'docs/sdk/factors.md',
      'docs/sdk/passkeys.md',
      'docs/sdk/tokens.md',
      'docs/sdk/device.md',
      'docs/sdk/dpop.md',
      'docs/sdk/calls.md',
      'docs/sdk/certificates.md',
      'docs/sdk/self-service.md',
      'docs/sdk/zt-session.md',
      'docs/testing-clients.md',
    ],
  },
  {
    title: 'Reference',
    pages: [
      'docs/specification.md',
      'docs/edge-api.md',
      'docs/errors.md',
      'docs/compliance.md',
      'docs/security-requirements.md',
    ],
  },
  {
    title: 'The project',
    pages: [
      'docs/architecture.md',
      'docs/login-cycle.md',
      'docs/decisions.md',
      'CONTRIBUTING.md',
      'docs/release.md',
      'CHANGELOG.md',
      'SECURITY.md',
    ],
  },
]
