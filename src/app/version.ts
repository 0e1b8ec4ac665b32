/** What `GET /version` says: the build, and which APIs are at which addresses. API 3.1. */
import type { Config, Listener } from '../config/config.ts'
import { APIS } from '../http/edge-api/api.ts'
import { PROVIDER_PREFIX } from '../protocol/oidc.ts'
import type { BuildInfo } from './build-info.ts'

interface Opened {
  readonly baseUrls: readonly string[]
  readonly listener: Pick<Listener, 'apis'>
}

/** Reads the set of listeners at each call: the first one is open before the last one exists. */
export function describeVersion(
  build: BuildInfo,
  opened: readonly Opened[],
  asked: Pick<Listener, 'apis'>,
  { brand, compatibility }: Pick<Config, 'brand' | 'compatibility'>,
) {
  const paths = {
    'edge-client': APIS['edge-client'].prefix,
    'edge-management': APIS['edge-management'].prefix,
    'edge-oidc': PROVIDER_PREFIX,
  }
  const apiVersions = Object.entries(paths).flatMap(([binding, path]) => {
    const apiBaseUrls = opened
      .filter(({ listener }) => listener.apis.some((api) => api.binding === binding))
      .flatMap(({ baseUrls }) => baseUrls.map((base) => `${base}${path}`))
    return apiBaseUrls.length === 0 ? [] : [[binding, { v1: { path, apiBaseUrls } }] as const]
  })
  const isForOpenZiti = compatibility === 'openziti'
  const client = apiVersions.find(([binding]) => binding === 'edge-client')
  // D-319: clients that read it log in at the address that they asked, and clients of OpenZiti controllers over the
  // addresses of the compatibility layer alone.
  const hasOidc = asked.apis.some(({ binding }) => binding === 'edge-oidc')
  const canLogIn = isForOpenZiti || brand !== 'openziti'
  // The older name of the client API, by which existing clients find it.
  const older = isForOpenZiti && client !== undefined ? [['edge', client[1]] as const] : []
  return {
    ...build,
    runtimeVersion: `node ${process.version}`,
    apiVersions: Object.fromEntries([...apiVersions, ...older]),
    capabilities: hasOidc && canLogIn ? (['OIDC_AUTH'] as const).slice() : [],
  }
}
