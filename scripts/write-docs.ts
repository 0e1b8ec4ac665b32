/**
 * Writes docs/configuration.md and docs/gateway.md from the schemas of the two files, the tables of docs/errors.md, docs/sdk-authors.md and docs/audit.md,
 * and the index of docs/decisions.md: `npm run docs`.
 * Tests fail if a page and its source differ.
 */
import { writeFileSync } from 'node:fs'
import { VARIABLES } from '../src/config/environment.ts'
import { allKeys, KEYS, type Key } from '../src/config/keys.ts'
import { GATEWAY_KEYS } from '../src/gateway/settings/schema.ts'
import { row, writeCompliance } from './compliance.ts'
import { writeDecisionIndex } from './decision-index.ts'
import { writeDocTables } from './doc-tables.ts'

export const PAGE = new URL('../docs/configuration.md', import.meta.url)

const INTRODUCTION = `# Configuration

<!-- Written by \`npm run docs\` from src/config/schema.ts. Change it there. -->

Latchkey reads one YAML file, \`controller.yml\` in its home folder, or the file that \`--config\` names. A new home
gets one that explains every key. \`latchkey config check\` prints every problem and every adjustment, and starts
nothing.

- **Paths** are relative to the home folder.
- **Durations** are written \`90s\`, \`30m\`, \`24h\`, \`1h30m\`, \`7d\`. A duration that is too short is raised to its minimum, with a
  warning that names the key, the given value and the used value. Ten years (\`3650d\`) is the longest.
- **Variables:** \`\${NAME}\` anywhere in a value is read from the environment; \`$\${\` stands for a plain \`\${\`. A variable
  fills in a value and can never add a key.
- **Sections** may be empty: each key in them then has its default.
- **Problems** (an unknown key, a value of the wrong type, an unset variable, a missing file, a duplicate key) are
  all reported in one message, and nothing starts (exit code 78).

## A smaller file

Only \`v\` and \`web\` have no default.

\`\`\`yaml
v: 1
web:
  - name: default
    bindPoints:
      - interface: 0.0.0.0:1280
        address: id.example.com:1280
    apis:
      - binding: edge-client
      - binding: edge-management
\`\`\`

## OIDC on a listener of its own

Tokens are issued for the address that a client connects to: the issuer here is \`https://login.example.com:8443/oidc\`.
Because \`edge-oidc\` is listed here, it is not added anywhere else.

\`\`\`yaml
v: 1
web:
  - name: apis
    bindPoints:
      - interface: 0.0.0.0:1280
        address: api.example.com:1280
    apis:
      - binding: edge-client
      - binding: edge-management
  - name: login
    bindPoints:
      - interface: 0.0.0.0:8443
        address: login.example.com:8443
    apis:
      - binding: edge-oidc
        options:
          redirectURIs:
            - https://app.example.com/callback
            - http://127.0.0.1:*/callback
\`\`\`
`

export function configurationPage(): string {
  return [
    INTRODUCTION,
    '## Every key\n',
    ...KEYS.map((key) => table(allKeys([key]))),
    '## The environment\n',
    row('Variable', 'Meaning'),
    row('---', '---'),
    ...Object.entries(VARIABLES).map(([name, meaning]) => row(`\`${name}\``, meaning)),
    '',
  ].join('\n')
}

export const GATEWAY_PAGE = new URL('../docs/gateway.md', import.meta.url)

const GATEWAY_INTRODUCTION = `# Settings of a gateway

<!-- Written by \`npm run docs\` from src/gateway/settings/schema.ts. Change it there. -->

\`latchkey gateway\` reads one YAML file, \`gateway.yml\` in its home folder (\`--home\`, default \`./latchkey-gateway\`).
[Routers and gateways](router.md) has the steps. Options of the command line replace what the file says, and a gateway
that gets everything from its command line needs no file.

Paths, durations, variables and problems are as in [controller.yml](configuration.md): paths are relative to the home,
and all problems are reported in one message (exit code 78).

\`\`\`yaml
v: 1
controller: https://id.example.com:1280
listen: 0.0.0.0:8443
upstreams:
  - name: grafana
    url: http://127.0.0.1:3000
\`\`\`
`

const HEAD = [row('Key', 'Type', 'Default', 'Rule'), row('---', '---', '---', '---')]

export function gatewayPage(): string {
  const sections = GATEWAY_KEYS.filter(({ children }) => children.length > 0)
  const plain = GATEWAY_KEYS.filter(({ children }) => children.length === 0)
  return [
    GATEWAY_INTRODUCTION,
    '## Every key\n',
    ...HEAD,
    ...plain.map(describe),
    '',
    ...sections.map((key) => table(allKeys([key]))),
  ].join('\n')
}

function table(keys: readonly Key[]): string {
  const [top] = keys
  const title = `### \`${top?.name}\`\n`
  return [title, ...HEAD, ...keys.map(describe), ''].join('\n')
}

function describe(key: Key): string {
  return row(`\`${key.path}\``, key.facts.type, usualOf(key), key.facts.rule)
}

function usualOf({ usual, mayBeLeftOut, children }: Key): string {
  if (!mayBeLeftOut) return '**required**'
  if (usual === undefined || children.length > 0) return ''
  return `\`${typeof usual === 'string' ? usual : JSON.stringify(usual)}\``
}

if (import.meta.main) {
  writeFileSync(PAGE, configurationPage())
  writeFileSync(GATEWAY_PAGE, gatewayPage())
  writeDocTables()
  writeCompliance()
  writeDecisionIndex()
}
