/** A CPU profile of Latchkey under one operation, taken over the inspector, without its start. */
import { writeFile } from 'node:fs/promises'
import { freePort } from '../support/ports.ts'
import { useWorkers } from '../support/process/child-home.ts'
import { runLoad } from './generator/load.ts'
import { prepareWorks } from './generator/works.ts'
import type { CpuOperation } from './operations.ts'
import { type Home, startLatchkey } from './servers/latchkey.ts'
import { fill } from './servers/people.ts'

const WARM_UP_MILLISECONDS = 2000
const SAMPLING_MICROSECONDS = 200
const TOP = 30

export interface Profile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: {
    readonly functionName: string
    readonly url: string
    readonly lineNumber: number
  }
}

/** Writes `latchkey-OPERATION.cpuprofile` to the working directory, for the tools of Chromium, and prints the top. */
export async function writeProfile(
  home: Home,
  operation: CpuOperation,
  { milliseconds }: { readonly milliseconds: number },
): Promise<void> {
  const port = await freePort()
  // One process has all the work, and the profile.
  await (await startLatchkey(home)).stop()
  await useWorkers(home.folder, 1)
  const latchkey = await startLatchkey(home, [`--inspect=127.0.0.1:${port}`])
  try {
    const filled = await fill(latchkey)
    const warm = await prepareWorks(filled, operation)
    await runLoad(warm.works, WARM_UP_MILLISECONDS)
    warm.close()
    const { works, close } = await prepareWorks(filled, operation)
    const inspector = await openInspector(port)
    await inspector.send('Profiler.enable')
    await inspector.send('Profiler.setSamplingInterval', { interval: SAMPLING_MICROSECONDS })
    await inspector.send('Profiler.start')
    const { count } = await runLoad(works, milliseconds)
    const { profile } = (await inspector.send('Profiler.stop')) as { profile: Profile }
    inspector.close()
    close()
    const file = `latchkey-${operation}.cpuprofile`
    await writeFile(file, JSON.stringify(profile))
    console.log(`${count} operations in ${milliseconds} ms; wrote ${file}`)
    for (const line of topOf(profile, TOP)) console.log(line)
  } finally {
    await latchkey.stop()
  }
}

/** The functions in which most of the time was spent, without what they called. */
export function topOf({ nodes, samples, timeDeltas }: Profile, count: number): readonly string[] {
  const names = new Map(nodes.map((node) => [node.id, nameOf(node)]))
  const times = new Map<string, number>()
  let total = 0
  for (const [i, id] of samples.entries()) {
    const name = names.get(id) ?? '?'
    if (name === '(idle)') continue
    const time = timeDeltas[i] ?? 0
    total += time
    times.set(name, (times.get(name) ?? 0) + time)
  }
  return [...times]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([name, time]) => `${((100 * time) / total).toFixed(1).padStart(5)} %  ${name}`)
}

function nameOf({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string {
  const name = functionName === '' ? '(anonymous)' : functionName
  if (url === '') return name
  const place = url.replace(/^.*\/node_modules\//, '').replace(/^file:.*\/(?=src\/|bin\/)/, '')
  return `${name}  ${place}:${lineNumber + 1}`
}

async function openInspector(port: number) {
  const listed = await fetch(`http://127.0.0.1:${port}/json/list`)
  const [target] = (await listed.json()) as { webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '')
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', reject, { once: true })
  })
  let last = 0
  const waiting = new Map<number, (result: unknown) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data))
    waiting.get(id)?.(result)
  })
  return {
    send(method: string, params: object = {}): Promise<unknown> {
      const id = ++last
      const answered = new Promise((resolve) => waiting.set(id, resolve))
      socket.send(JSON.stringify({ id, method, params }))
      return answered
    },
    close: () => socket.close(),
  }
}
