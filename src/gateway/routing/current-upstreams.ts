/** The upstreams of this moment: they can be replaced while the gateway runs (D-396). */
import type { UpstreamSettings } from '../settings/settings.ts'
import { type ChooseUpstream, createChooseUpstream } from './choose-upstream.ts'

export interface CurrentUpstreams {
  list(): readonly UpstreamSettings[]
  /** Among those for HTTP. */
  readonly choose: ChooseUpstream<UpstreamSettings>
  /** Whether there is one with these settings. */
  includes(upstream: UpstreamSettings): boolean
  replace(next: readonly UpstreamSettings[]): void
}

export function createCurrentUpstreams(initial: readonly UpstreamSettings[]): CurrentUpstreams {
  let upstreams = initial
  let choose = chooseAmong(initial)
  return {
    list: () => upstreams,
    choose: (host, path) => choose(host, path),
    includes: (wanted) =>
      upstreams.includes(wanted) || upstreams.some((one) => isSame(one, wanted)),
    replace(next) {
      choose = chooseAmong(next)
      upstreams = next
    },
  }
}

function chooseAmong(upstreams: readonly UpstreamSettings[]): ChooseUpstream<UpstreamSettings> {
  return createChooseUpstream(upstreams.filter(({ to }) => to.kind === 'http'))
}

/** Settings are plain data, always built in the same order. */
function isSame(one: UpstreamSettings, other: UpstreamSettings): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
