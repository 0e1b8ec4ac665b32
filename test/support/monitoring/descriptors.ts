/** What a child process has open, and a shell that limits it. Only on Linux. */
import { readdir, readFile, readlink } from 'node:fs/promises'
import type { Child, ChildOptions } from '../process/child-service.ts'

export const isLinux = process.platform === 'linux'

/** Runs the command in a process with this descriptor limit. */
export function withDescriptors(most: number): Pick<ChildOptions, 'node' | 'nodeArguments'> {
  const script = `ulimit -n ${most}; exec "$0" "$@"`
  return { node: '/bin/sh', nodeArguments: ['-c', script, process.execPath] }
}

/** How many sockets the process has, including listening ones. */
export async function countSockets({ process: child }: Pick<Child, 'process'>): Promise<number> {
  const { pid } = child
  const descriptors = new Set(await readdir(`/proc/${pid}/fd`))
  // Connections to the database and to other services stay the same; files come and go.
  const lines = await Promise.all([...descriptors].map((fd) => readlinkOf(`/proc/${pid}/fd/${fd}`)))
  return lines.filter((target) => target.startsWith('socket:')).length
}

function readlinkOf(path: string): Promise<string> {
  return readlink(path).catch(() => '')
}

/** Resident memory in bytes. */
export async function residentMemory({ process: child }: Pick<Child, 'process'>): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}
