/** The configurations of docs/forward-auth.md, one for each proxy, with the ports and files of a test. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const PAGE = new URL('../../../../docs/forward-auth.md', import.meta.url)
const SCRIPT_FILE = new URL('../../../../deploy/haproxy/latchkey.lua', import.meta.url)

export interface Given {
  readonly folder: string
  readonly port: number
  readonly verifyPort: number | undefined
  readonly applicationPort: number
}

export interface ReverseProxy {
  readonly program: string
  /** Otherwise it has a page of its own for 403. */
  readonly passesRefusalsOn: boolean
  readonly removesCookies: boolean
  /** What becomes of a request with a field that could be read as one of ours. */
  readonly forged: 'removed' | 'refused'
  /** Writes its configuration, which is that of the page, and returns its arguments. */
  prepare(given: Given): Promise<readonly string[]>
}

export const haproxy: ReverseProxy = {
  program: 'haproxy',
  passesRefusalsOn: true,
  removesCookies: true,
  forged: 'removed',
  async prepare({ folder, port, verifyPort, applicationPort }) {
    const lua = (await readFile(SCRIPT_FILE, 'utf8')).replace('4180', String(verifyPort))
    await writeFile(join(folder, 'latchkey.lua'), lua)
    const [recipe = ''] = await recipesOf('HAProxy')
    const config = replaceAll(recipe, {
      '/etc/haproxy/latchkey.lua': `${folder}/latchkey.lua`,
      ':443 ssl crt /etc/haproxy/app.pem': `127.0.0.1:${port} ssl crt ${folder}/app.pem`,
      '127.0.0.1:4180': `127.0.0.1:${verifyPort}`,
      '127.0.0.1:3000': `127.0.0.1:${applicationPort}`,
    })
    const times = ['connect', 'client', 'server'].map((what) => `  timeout ${what} 30s`)
    const file = join(folder, 'haproxy.cfg')
    await writeFile(file, ['defaults', '  mode http', ...times, config].join('\n'))
    return ['-db', '-f', file]
  },
}

const nginx: ReverseProxy = {
  program: 'nginx',
  passesRefusalsOn: false,
  removesCookies: true,
  forged: 'removed',
  async prepare({ folder, port, verifyPort, applicationPort }) {
    const [recipe = '', fields = ''] = await recipesOf('nginx')
    await writeFile(join(folder, 'latchkey_fields'), fields)
    const config = replaceAll(recipe, {
      'listen 443 ssl;': `listen 127.0.0.1:${port} ssl;
  ssl_certificate ${folder}/app.pem;
  ssl_certificate_key ${folder}/app.pem;`,
      'app.example.com': 'localhost',
      'include latchkey_fields;': `include ${folder}/latchkey_fields;`,
      '127.0.0.1:4180': `127.0.0.1:${verifyPort}`,
      '127.0.0.1:3000': `127.0.0.1:${applicationPort}`,
    })
    const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const places = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    const file = join(folder, 'nginx.conf')
    await writeFile(
      file,
      `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
events {}
http { access_log off; ${places.join(' ')}
${config}
}`,
    )
    return ['-p', folder, '-c', file]
  },
}

const caddy: ReverseProxy = {
  program: 'caddy',
  passesRefusalsOn: true,
  removesCookies: true,
  forged: 'refused',
  async prepare({ folder, port, verifyPort, applicationPort }) {
    const [recipe = ''] = await recipesOf('Caddy')
    const config = replaceAll(recipe, {
      'app.example.com {': `https://localhost:${port} {
  tls ${folder}/app.pem ${folder}/app.pem`,
      '127.0.0.1:4180': `127.0.0.1:${verifyPort}`,
      '127.0.0.1:3000': `127.0.0.1:${applicationPort}`,
    })
    const file = join(folder, 'Caddyfile')
    const options = 'admin off\n  auto_https disable_redirects'
    await writeFile(file, `{\n  ${options}\n}\n${config}`)
    return ['run', '--config', file, '--adapter', 'caddyfile']
  },
}

const traefik: ReverseProxy = {
  program: 'traefik',
  passesRefusalsOn: true,
  removesCookies: false,
  forged: 'refused',
  async prepare({ folder, port, verifyPort, applicationPort }) {
    const [recipe = ''] = await recipesOf('Traefik')
    const config = replaceAll(recipe, {
      'app.example.com': 'localhost',
      '127.0.0.1:4180': `127.0.0.1:${verifyPort}`,
      '127.0.0.1:3000': `127.0.0.1:${applicationPort}`,
    })
    const pem = join(folder, 'app.pem')
    const routes = join(folder, 'routes.yml')
    await writeFile(
      routes,
      `${config}tls: { certificates: [{ certFile: ${pem}, keyFile: ${pem} }] }\n`,
    )
    const file = join(folder, 'traefik.yml')
    await writeFile(
      file,
      `entryPoints: { web: { address: "127.0.0.1:${port}" } }
providers: { file: { filename: ${routes} } }
global: { checkNewVersion: false, sendAnonymousUsage: false }
`,
    )
    return [`--configFile=${file}`]
  },
}

const envoy: ReverseProxy = {
  program: 'envoy',
  passesRefusalsOn: true,
  removesCookies: true,
  forged: 'refused',
  async prepare({ folder, port, verifyPort, applicationPort }) {
    const [asks = '', removes = '', routes = ''] = await recipesOf('Envoy')
    const type = (name: string) => `"@type": type.googleapis.com/envoy.extensions.${name}`
    const address = (at: unknown) => `{ socket_address: { address: 127.0.0.1, port_value: ${at} } }`
    const cluster = (name: string, at: unknown) => `
  - name: ${name}
    load_assignment:
      cluster_name: ${name}
      endpoints: [{ lb_endpoints: [{ endpoint: { address: ${address(at)} } }] }]`
    const pem = `{ filename: ${folder}/app.pem }`
    const file = join(folder, 'envoy.yaml')
    await writeFile(
      file,
      `static_resources:
  listeners:
  - address: ${address(port)}
    filter_chains:
    - transport_socket:
        name: envoy.transport_sockets.tls
        typed_config:
          ${type('transport_sockets.tls.v3.DownstreamTlsContext')}
          common_tls_context:
            tls_certificates: [{ certificate_chain: ${pem}, private_key: ${pem} }]
      filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          ${type('filters.network.http_connection_manager.v3.HttpConnectionManager')}
          stat_prefix: web
          upgrade_configs: [{ upgrade_type: websocket }]
          http_filters:
${[asks, removes].map((filter) => asItem(filter, 10)).join('\n')}
          - name: envoy.filters.http.router
            typed_config: { ${type('filters.http.router.v3.Router')} }
          route_config:
            virtual_hosts:
            - name: app
              domains: ["*"]
              routes:
${indented(routes, 14)}
  clusters:${cluster('latchkey', verifyPort)}${cluster('app', applicationPort)}
`,
    )
    return ['-c', file, '--concurrency', '1', '--disable-hot-restart']
  },
}

export const PROXIES: Readonly<Record<string, ReverseProxy>> = {
  HAProxy: haproxy,
  nginx,
  Traefik: traefik,
  Caddy: caddy,
  Envoy: envoy,
}

const indented = (text: string, by: number) => text.trimEnd().replaceAll(/^/gm, ' '.repeat(by))

/** Of a list in YAML. */
const asItem = (text: string, at: number) =>
  indented(text, at + 2).replace(/^ +/, `${' '.repeat(at)}- `)

/** The blocks of code below a heading of the page. */
async function recipesOf(heading: string): Promise<readonly string[]> {
  const [, section = ''] = (await readFile(PAGE, 'utf8')).split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return [...own.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)
}

/** Every text must be there: otherwise the page has changed, and the test with it. */
function replaceAll(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((changed, [from, to]) => {
    assert.ok(changed.includes(from), `${from} is not on the page`)
    return changed.replaceAll(from, to)
  }, text)
}

const FOLDERS = ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin']

export function findProgram(name: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path))
}
