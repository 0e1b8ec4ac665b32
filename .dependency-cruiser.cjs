// Who may import whom. The only place that says so; docs/architecture.md draws the same picture.
const mayImport = {
  base: [],
  protocol: ['base'],
  errors: ['base', 'protocol'],
  entities: ['base'],
  contract: ['base', 'protocol', 'errors', 'entities'],
  config: ['base', 'protocol', 'errors'],
  domain: ['base', 'protocol', 'errors', 'entities'],
  store: ['base', 'errors', 'entities', 'domain'],
  outbound: ['base'],
  telemetry: ['base'],
  'https-server': ['base', 'protocol'],
  router: ['base', 'protocol'],
  client: ['base', 'protocol'],
  gateway: [
    'base',
    'protocol',
    'errors',
    'config',
    'telemetry',
    'router',
    'https-server',
    // Browsers sign in through the gateway, which is then a client like any other (D-410).
    'client',
    'web/texts',
    'web/login',
    'web/gateway',
  ],
  'web/texts': ['base'],
  'web/login': ['base', 'protocol', 'web/texts'],
  'web/gateway': ['web/login'],
  'web/reference': ['web/login'],
  'web/account': ['base', 'web/login', 'web/texts'],
  'web/device': ['base', 'web/login', 'web/account'],
  'web/invite': ['base', 'protocol', 'web/login', 'web/texts'],
  'web/console': ['base', 'protocol', 'web/login', 'web/account'],
  http: [
    'base',
    'protocol',
    'errors',
    'entities',
    'contract',
    'domain',
    'https-server',
    'web/texts',
    'web/login',
    'web/reference',
    'web/account',
    'web/device',
    'web/invite',
    'web/console',
  ],
  app: [
    'base',
    'protocol',
    'errors',
    'config',
    'domain',
    'store',
    'outbound',
    'telemetry',
    'https-server',
    'http',
  ],
  demo: ['base', 'protocol', 'app', 'router', 'gateway', 'client', 'web/login'],
  testing: ['base', 'protocol', 'errors', 'domain', 'https-server', 'http', 'app', 'client'],
  cli: [
    'base',
    'errors',
    'entities',
    'contract',
    'config',
    'app',
    'router',
    'gateway',
    'client',
    'demo',
    'testing',
    'web/login',
    // What the events mean: `explain` says it in the same sentences as docs/audit.md.
    'domain/audit',
  ],
}

// The folders of src/domain, lowest first: each imports only from those before it. Files directly in src/domain are
// below all of them; stores.ts there names the stores of every folder. D-261.
const domainOrder = [
  'lists',
  'identities',
  'audit',
  'certificates',
  'ext-jwt',
  'policies',
  'factors',
  'login',
  'sessions',
  'tokens',
  'calls',
  'enrollments',
  'account',
  'device',
  'management',
  'installation',
  'health',
  'overview',
]

// Each outside library has one home, so that it can be replaced or upgraded in one place.
// A library that is missing here may be imported nowhere in src.
const home = {
  fastify: 'http',
  'find-my-way': 'http',
  negotiator: 'http',
  kysely: 'store',
  pg: 'store',
  jose: '(domain/(tokens|ext-jwt|enrollments|management)|router|client|demo/idp|gateway/verify)',
  '@node-rs/argon2': 'domain/factors',
  '@zxcvbn-ts/language-common': 'domain/factors',
  pkijs: 'domain/certificates',
  '@simplewebauthn/server': 'domain/factors/passkey',
  qrcode: 'web/login',
  // Not imported: it is served to browsers as it is.
  'htmx[.]org': 'web/console',
  zod: '(contract|config|http|gateway/settings)',
  yaml: 'config',
  pino: 'app',
}

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })
const shipped = { path: '^src/', pathNot: '[.]test[.]ts$' }

module.exports = {
  forbidden: [
    rule(
      'no-cycles',
      'two files that need each other are one file, or need a third',
      {},
      { circular: true },
    ),
    ...Object.entries(mayImport).map(([folder, allowed]) =>
      rule(
        `from-${folder.replace('/', '-')}`,
        `src/${folder} may import only ${[folder, ...allowed].join(', ')}`,
        { path: `^src/${folder}/`, pathNot: '[.]test[.]ts$' },
        { path: '^src/', pathNot: `^src/(${[folder, ...allowed].join('|')})/` },
      ),
    ),
    ...domainOrder
      .slice(0, -1)
      .map((folder, i) =>
        rule(
          `order-of-domain-${folder}`,
          `src/domain/${folder} imports only from folders before it in domainOrder`,
          { path: `^src/domain/${folder}/`, pathNot: '[.]test[.]ts$' },
          { path: `^src/domain/(${domainOrder.slice(i + 1).join('|')})/` },
        ),
      ),
    rule(
      'every-domain-folder-ordered',
      'a new folder of src/domain gets its place in domainOrder before it gets a file',
      { path: '^src/domain/[^/]+/', pathNot: `^src/domain/(${domainOrder.join('|')})/` },
      { path: '.' },
    ),
    rule(
      'files-of-domain',
      'files directly in src/domain are used by every folder, so they import none; stores.ts only names stores',
      { path: '^src/domain/[^/]+[.]ts$' },
      { path: '^src/domain/[^/]+/', pathNot: '/stores[.]ts$' },
    ),
    rule(
      'every-folder-listed',
      'a new folder of src gets a line in mayImport before it gets a file',
      { path: '^src/', pathNot: `^src/(main[.]ts$|(${Object.keys(mayImport).join('|')})/)` },
      { path: '.' },
    ),
    ...Object.entries(home).map(([library, owner]) =>
      rule(
        `home-of-${library.replace(/[^a-z0-9]+/gi, '-')}`,
        `${library} is used only in src/${owner}; ask that folder for what you need`,
        { ...shipped, pathNot: `^src/${owner}/|[.]test[.]ts$` },
        { path: `^node_modules/(@types/)?${library}/` },
      ),
    ),
    rule(
      'every-library-at-home',
      'a new library gets a line in home before it is imported',
      shipped,
      {
        path: '^node_modules/',
        pathNot: `^node_modules/(@types/)?(${Object.keys(home).join('|')}|node)/`,
      },
    ),
    rule(
      'demo-by-its-command',
      'the IdP of the demo believes everybody: there is one way to it, and that is `latchkey demo`',
      { path: '^src/', pathNot: '^src/(cli/commands/demo[.]ts$|demo/)' },
      { path: '^src/demo/' },
    ),
    rule(
      'testing-by-its-command',
      'a fake server has accounts for everybody and loses answers: no part of the service may reach it',
      { path: '^src/', pathNot: '^src/(cli/commands/fake-server[.]ts$|testing/)' },
      { path: '^src/testing/', pathNot: '^src/testing/bad-days[.]ts$' },
    ),
    rule('src-not-to-test', 'shipped code never imports test code', shipped, {
      path: '^test/|[.]test[.]ts$',
    }),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
}
